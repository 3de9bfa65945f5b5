// The input images of an edit, wherever callers put them: `images` of JSON, `image` and `image[]` of a
// form, files or addresses. Nothing is fetched here; the upstream does that.
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { InputMedia } from '../../contract/task.ts'
import { isUpload } from '../../http/body/read-form.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type Fields, wrong } from '../common/fields.ts'
import { bareImage, inlineImage, isAddress, readEach, uploadedImage } from '../media/images.ts'

export const maxInputs = 3

export async function imagesIn(
  fields: Fields,
  account: string | undefined,
): Promise<InputMedia[] | Refusal> {
  const places = ['images', 'image'].flatMap((param) => placesOf(param, fields[param]))
  if (places.length === 0) {
    return wrong('images', "'images' must have at least one {image_url}, or a form a file 'image'")
  }
  if (places.length > maxInputs) {
    const message = `at most ${maxInputs} images can be edited at once`
    return refuse('too_many_images', message, { param: places[0]!.param })
  }
  return readEach(places, (place) => imageAt(place, account))
}

interface Place {
  param: string
  name: string
  value: unknown
}

function placesOf(param: string, value: unknown): Place[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return [{ param, name: param, value }]
  return value.map((each, index) => ({ param, name: `${param}[${index}]`, value: each }))
}

async function imageAt(
  { param, name, value }: Place,
  account: string | undefined,
): Promise<InputMedia | Refusal> {
  if (isUpload(value)) {
    return uploadedImage(value, name, param) ?? wrong(param, `the file '${name}' must be an image`)
  }
  const url = addressIn(value)
  if (typeof url !== 'string') return wrong(param, `'${name}' must be {image_url} with an address`)
  const place = { place: name, param, account }
  if (/^\s*data:/i.test(url)) return inlineImage(url, place)
  if (isAddress(url)) return { kind: 'image', url }
  const bare = await bareImage(url, place)
  if (bare !== undefined) return bare
  return wrong(param, `'${name}' must be an http or https address, or data:image/…;base64`)
}

/** `{image_url: '…'}`, `{image_url: {url: '…'}}` and the bare address mean the same. */
function addressIn(value: unknown): unknown {
  if (!isObject(value)) return value
  const inner = value['image_url']
  return isObject(inner) ? inner['url'] : inner
}
