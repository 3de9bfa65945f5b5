// Input images of callers: an address, or bytes in base64 up to a maximum size.
import { Refusal, refuse } from '../../contract/errors.ts'
import type { InputMedia } from '../../contract/task.ts'
import { isUpload, type Upload } from '../../http/body/read-form.ts'
import { plainBase64After, toBase64 } from '../../lib/json/json-thread.ts'
import { imageTypeOf } from '../../lib/text/image-type.ts'
import { wrong } from '../common/fields.ts'

const maxAddress = 8_192
export const maxImageBytes = 20 * 1024 * 1024
const maxBase64 = Math.ceil(maxImageBytes / 3) * 4

export const isAddress = (url: string): boolean =>
  url.length <= maxAddress && /^https?:\/\/[^\s\p{Cc}]+$/iu.test(url) && URL.canParse(url)

export const isImageType = (type: string): boolean => /^image\/[a-z0-9.+-]{1,64}$/i.test(type)

const tooLarge = (place: string, param: string): Refusal =>
  refuse('request_too_large', `'${place}' is larger than ${maxImageBytes} bytes`, { param })

/** One after the other, up to the first that is refused. */
export async function readEach<Item, Read>(
  items: readonly Item[],
  read: (item: Item, index: number) => Promise<Read | Refusal> | Read | Refusal,
): Promise<Read[] | Refusal> {
  const all: Read[] = []
  for (const [index, item] of items.entries()) {
    const each = await read(item, index)
    if (each instanceof Refusal) return each
    all.push(each)
  }
  return all
}

/** Where an image stands in a request, and whose it is. */
interface ImagePlace {
  place: string
  param: string
  account: string | undefined
}

/** The Base64 that begins there, after the beginning of a `data:` URI. */
export async function dataUriOf(
  head: string,
  text: string,
  from: number,
  { place, param, account }: ImagePlace,
): Promise<string | Refusal> {
  const url = await plainBase64After(head, text, from, account)
  const letters = url === undefined ? text.length - from : url.length - head.length
  if (letters > maxBase64) return tooLarge(place, param)
  return url ?? wrong(param, `'${place}' holds no base64`)
}

/** A `data:` URI. */
export async function inlineImage(given: string, at: ImagePlace): Promise<InputMedia | Refusal> {
  const [whole, head] = /^\s*(data:image\/[a-z0-9.+-]{1,64};base64,)/i.exec(given) ?? []
  if (whole === undefined || head === undefined) {
    return wrong(at.param, `'${at.place}' must be of the form data:image/…;base64`)
  }
  const url = await dataUriOf(head, given, whole.length, at)
  return url instanceof Refusal ? url : { kind: 'image', url }
}

/** Base64 without a type: an image only if its first bytes are those of one. */
export async function bareImage(
  text: string,
  { place, param, account }: ImagePlace,
): Promise<InputMedia | Refusal | undefined> {
  const beginning = text.slice(0, text.search(/\S/) + typedLetters)
  const type = imageTypeOf(Buffer.from(beginning, 'base64'))
  if (type === undefined) return undefined
  const head = `data:${type};base64,`
  const url = await plainBase64After(head, text, 0, account)
  if (url === undefined || url.length < head.length + minBase64) return undefined
  return url.length - head.length > maxBase64 ? tooLarge(place, param) : { kind: 'image', url }
}

/** Enough for the first bytes, also with some white space. */
const typedLetters = 64
/** Shorter than any image. */
const minBase64 = 16

/** Undefined when the file is not an image. */
export function uploadedImage(
  upload: Upload,
  place: string,
  param: string,
): InputMedia | Refusal | undefined {
  const { bytes, dataUri } = upload
  if (dataUri !== undefined) return { kind: 'image', url: dataUri }
  const head = headOf(upload)
  if (head === undefined) return undefined
  if (bytes.length > maxImageBytes) return tooLarge(place, param)
  return { kind: 'image', url: `${head}${bytes.toBase64()}` }
}

function headOf({ type, bytes }: Upload): string | undefined {
  const declared = type.split(';', 1)[0]!.trim()
  const vague = type === '' || type.startsWith('application/octet-stream')
  const known = isImageType(declared) ? declared : undefined
  const imageType = known ?? (vague ? typeByContent(bytes) : undefined)
  return imageType === undefined || bytes.length === 0 ? undefined : `data:${imageType};base64,`
}

/** Images of this size are written as Base64 in the thread, before they are read. */
const longImageBytes = 256 * 1024

export async function writeUploads(value: unknown, account: string | undefined): Promise<void> {
  if (typeof value !== 'object' || value === null) return
  if (!isUpload(value)) {
    for (const each of Object.values(value)) await writeUploads(each, account)
    return
  }
  const { length } = value.bytes
  const head = length > longImageBytes && length <= maxImageBytes ? headOf(value) : undefined
  if (head !== undefined) value.dataUri = await toBase64(value.bytes, account, head)
}

const typeByContent = (bytes: Uint8Array): string | undefined =>
  imageTypeOf(bytes) ?? (bytes[0] === 0x42 && bytes[1] === 0x4d ? 'image/bmp' : undefined)

/** Counted in characters: one outside the basic plane counts once, not twice. */
export function isLongerThan(text: string, max: number): boolean {
  if (text.length <= max) return false
  return text.length > 2 * max || [...text].length > max
}
