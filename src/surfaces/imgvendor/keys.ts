// The keys of an image task.
import { keysOf, plain } from '../../http/body/exact-keys.ts'

export const imageTaskKeys = keysOf({
  ...plain('model_name', 'model', 'prompt', 'negative_prompt', 'image', 'image_reference'),
  ...plain('image_fidelity', 'human_fidelity', 'resolution', 'n', 'aspect_ratio', 'result_type'),
  ...plain('series_amount', 'callback_url', 'external_task_id', 'mode', 'seed'),
  image_list: plain('image'),
  element_list: plain('element_id'),
  watermark_info: plain('enabled'),
})
