// The keys of a video request, in JSON or in a form, with those of other dialects: no other spelling of them
// is accepted either.
import { keysOf, plain } from '../../http/body/exact-keys.ts'

const reference = {
  ...plain('url', 'file_id'),
  image_url: plain('url'),
  video_url: plain('url'),
}

export const videosKeys = keysOf({
  ...plain('model', 'prompt', 'seconds', 'size', 'resolution', 'seed', 'input_image', 'user'),
  ...plain('duration', 'ratio', 'aspect_ratio', 'frames', 'negative_prompt', 'n', 'fps', 'image'),
  ...plain('image_url', 'video', 'video_url', 'content', 'callback_url', 'watermark', 'quality'),
  input_reference: reference,
  references: { ...plain('image', 'audio'), video: reference },
})

/** A form may give these more than once. */
export const videoLists: ReadonlySet<string> = new Set(['input_reference', 'references'])
