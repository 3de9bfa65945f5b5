// Input images of a create request: beside the prompt or among the parameters, as bytes or by address.
import { Refusal, refuse } from '../../contract/errors.ts'
import type { InputMedia } from '../../contract/task.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type Fields, wrong } from '../common/fields.ts'
import { dataUriOf, isAddress, isImageType, readEach } from '../media/images.ts'

type Role = NonNullable<InputMedia['role']>

/** More than any request needs; the upstream judges what a model accepts. */
export const maxReferences = 64
/** For bytes that come without a type. */
const defaultType = 'image/png'

/** In the order: the first frame, the last one, references. */
export async function mediaIn(
  instance: Fields,
  parameters: Fields,
  account: string | undefined,
): Promise<InputMedia[] | Refusal> {
  const video = given(instance['video']) ?? given(parameters['video'])
  if (video !== undefined) {
    return wrong('instances[0].video', 'a video to start from is not taken here')
  }
  const imageFor = async (name: string, role: Role): Promise<InputMedia[] | Refusal> => {
    const place = placeOf(name, instance, parameters)
    if (place === undefined || place instanceof Refusal) return place ?? []
    const image = await imageOf(place, role, account)
    return image instanceof Refusal ? image : [image]
  }
  const first = await imageFor('image', 'first_frame')
  if (first instanceof Refusal) return first
  const last = await imageFor('lastFrame', 'last_frame')
  if (last instanceof Refusal) return last
  if (last.length > 0 && first.length === 0) {
    return wrong('instances[0].image', "'lastFrame' needs an 'image' to begin with")
  }
  const references = await referencesIn(instance, parameters, account)
  return references instanceof Refusal ? references : [...first, ...last, ...references]
}

/** Null and an empty object count as absent. */
const given = (value: unknown): unknown =>
  value === null || (isObject(value) && Object.keys(value).length === 0) ? undefined : value

interface Place {
  name: string
  value: unknown
}

/** A field that may be in either place, but not in both. */
function placeOf(name: string, instance: Fields, parameters: Fields): Place | undefined | Refusal {
  const inside = { name: `instances[0].${name}`, value: given(instance[name]) }
  const beside = { name: `parameters.${name}`, value: given(parameters[name]) }
  if (inside.value !== undefined && beside.value !== undefined) {
    return wrong(beside.name, `'${name}' was given twice; send it once`)
  }
  return [inside, beside].find(({ value }) => value !== undefined)
}

async function referencesIn(
  instance: Fields,
  parameters: Fields,
  account: string | undefined,
): Promise<InputMedia[] | Refusal> {
  const place = placeOf('referenceImages', instance, parameters)
  if (place === undefined || place instanceof Refusal) return place ?? []
  const { name, value } = place
  if (!Array.isArray(value)) return wrong(name, `'${name}' must be a list`)
  if (value.length > maxReferences) {
    const message = `'${name}' has more than ${maxReferences} items`
    return refuse('too_many_images', message, { param: name })
  }
  return readEach(value as readonly unknown[], (each, index) => {
    const inner = isObject(each) && isObject(each['image']) ? each['image'] : each
    return imageOf({ name: `${name}[${index}].image`, value: inner }, 'reference', account)
  })
}

/** `{uri}`, `{bytesBase64Encoded, mimeType}`, or `{inlineData: {data, mimeType}}`. */
async function imageOf(
  { name, value }: Place,
  role: Role,
  account: string | undefined,
): Promise<InputMedia | Refusal> {
  if (!isObject(value)) return unclear(name)
  const uri = value['uri'] ?? undefined
  const inline = isObject(value['inlineData']) ? value['inlineData'] : undefined
  const bytes = value['bytesBase64Encoded'] ?? inline?.['data'] ?? undefined
  if ((uri === undefined) === (bytes === undefined)) return unclear(name)
  const type = value['mimeType'] ?? inline?.['mimeType'] ?? defaultType
  const url = await (uri === undefined
    ? dataUri(bytes, type, { name, account })
    : checkedUri(uri, { name, account }))
  return url instanceof Refusal ? url : { kind: 'image', url, role }
}

const unclear = (name: string): Refusal =>
  wrong(name, `'${name}' must have either 'uri' or 'bytesBase64Encoded' with 'mimeType'`)

interface Named {
  name: string
  account: string | undefined
}

async function checkedUri(uri: unknown, place: Named): Promise<string | Refusal> {
  const { name } = place
  const param = `${name}.uri`
  const inline = typeof uri === 'string' ? /^\s*data:([^;,]*);base64,/i.exec(uri) : null
  if (inline !== null) return dataUri(uri, inline[1], place)
  if (typeof uri === 'string' && isAddress(uri)) return uri
  return wrong(param, `'${param}' must be an http or https address, or data:image/…;base64`)
}

/** Base64, or a `data:` URI with it. */
function dataUri(
  bytes: unknown,
  type: unknown,
  { name, account }: Named,
): Promise<string | Refusal> | Refusal {
  if (typeof type !== 'string' || !isImageType(type)) {
    return wrong(name, `'${name}' must be an image, such as image/png`)
  }
  const given = typeof bytes === 'string' ? bytes : ''
  const from = /^\s*data:[^;,]*;base64,/i.exec(given)?.[0].length ?? 0
  return dataUriOf(`data:${type};base64,`, given, from, { place: name, param: name, account })
}
