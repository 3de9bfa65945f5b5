// The request in this style. Source images go as files in a form when their bytes are at hand; URLs
// go as JSON, and the upstream fetches them.
import type { TaskUpstream } from '../../contract/provider.ts'
import type { ImageRequest } from '../../contract/task.ts'
import { editedFields } from '../tasks/fields.ts'
import { inlineFile } from '../tasks/images.ts'
import type { CreateRequest, Problem } from '../tasks/style.ts'
import { buildForm } from './build-form.ts'

/** Models with a generation suffix return bytes only, and refuse a request for a URL. */
const bytesOnly = /(?:^|-)image-\d[\w.]*(?:-mini)?$/
/** The one family with fields for these in this style; others refuse unknown fields. */
const hasMoreWords = /^imga-/

export async function buildRequest(
  request: ImageRequest,
  upstream: TaskUpstream,
): Promise<CreateRequest | Problem> {
  const { baseUrl } = upstream
  const words = wordsFor(request, upstream)
  const urls = request.media.map(({ url }) => url)
  if (!request.isEdit && urls.length === 0) {
    return { url: `${baseUrl}/images/generations`, body: words }
  }
  const url = `${baseUrl}/images/edits`
  const files = urls.map(inlineFile).filter((file) => file !== undefined)
  const isInline = (each: string) => each.startsWith('data:')
  if (files.length < urls.filter(isInline).length) return notBase64
  if (files.length === 0 || files.length < urls.length) {
    return { url, body: { ...words, images: urls.map((image_url) => ({ image_url })) } }
  }
  const form = await buildForm(formWords(words, upstream), files, upstream.queueKey)
  if (form === undefined) return notBase64
  return { url, headers: { 'content-type': form.type }, body: form.bytes }
}

const notBase64 = { problem: 'a picture was given as a data URI that is not Base64' }

/** A form has no other values than texts. */
const formWords = (words: Record<string, string | number>, { bodyEdits }: TaskUpstream) =>
  Object.fromEntries(
    Object.entries<unknown>(editedFields(words, bodyEdits)).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )

function wordsFor(
  { prompt, count, size, seed, negativePrompt }: ImageRequest,
  { model, plainModel }: TaskUpstream,
): Record<string, string | number> {
  const knowsMore = hasMoreWords.test(plainModel)
  return {
    model,
    prompt,
    n: count,
    ...(size !== undefined && { size: `${size.width}x${size.height}` }),
    ...(!bytesOnly.test(model) && { response_format: 'url' }),
    ...(knowsMore && seed !== undefined && { seed }),
    ...(knowsMore && negativePrompt !== undefined && { negative_prompt: negativePrompt }),
  }
}
