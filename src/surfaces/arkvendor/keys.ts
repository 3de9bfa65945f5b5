// The keys of a native video request. What the gateway does not know goes up as it came, so that no
// variant of what it does know may be among it.
import { keysOf, plain } from '../../http/body/exact-keys.ts'

const address = plain('url')

export const nativeKeys = keysOf({
  ...plain('model', 'callback_url', 'resolution', 'ratio', 'aspect_ratio', 'duration', 'frames'),
  ...plain('seed', 'framespersecond', 'fps', 'camera_fixed', 'camerafixed', 'watermark', 'draft'),
  ...plain('return_last_frame', 'service_tier', 'execution_expires_after', 'generate_audio', 'n'),
  ...plain('safety_identifier', 'priority', 'external_task_id'),
  tools: plain('type'),
  content: {
    ...plain('type', 'text', 'role'),
    image_url: address,
    video_url: address,
    audio_url: address,
    draft_task: plain('id'),
  },
})
