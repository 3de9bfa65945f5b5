// The keys of a native video request. Unknown fields are sent unchanged, so no variant
// of a known name may be among them.
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
