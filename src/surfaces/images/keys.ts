// The keys of an image request, in JSON or in a form.
import { keysOf, plain } from '../../http/body/exact-keys.ts'

const image = { ...plain('url', 'file_id'), image_url: plain('url') }

export const imagesKeys = keysOf({
  ...plain('model', 'prompt', 'n', 'size', 'response_format', 'stream', 'seed', 'negative_prompt'),
  ...plain('mask', 'markup', 'quality', 'style', 'background', 'moderation', 'output_format'),
  ...plain('output_compression', 'partial_images', 'input_fidelity', 'user', 'watermark'),
  image: image,
  images: image,
})

/** A form may give these more than once. */
export const imageLists: ReadonlySet<string> = new Set(['image', 'images'])
