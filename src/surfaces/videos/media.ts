// The input images and videos of a request: where callers put them, which is which, and whether the model
// accepts them. Nothing is fetched here; the upstream does that.
import { Refusal, refuse } from '../../contract/errors.ts'
import type { InputMedia } from '../../contract/task.ts'
import { isUpload } from '../../http/body/read-form.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type Fields, wrong } from '../common/fields.ts'
import { bareImage, inlineImage, isAddress, readEach, uploadedImage } from '../media/images.ts'
import { type InputRule, maxImages, maxVideos } from './rules.ts'

export const maxItems = maxImages + maxVideos

type Found = InputMedia[] | Refusal

interface MediaOptions {
  model: string
  rule: InputRule
  isForm: boolean
  account: string | undefined
}

/** In the order of the fields: input_reference, input_image, references.video. */
export async function mediaIn(
  fields: Fields,
  { model, rule, isForm, account }: MediaOptions,
): Promise<Found> {
  const referred = await referencesIn(fields['input_reference'], account)
  if (referred instanceof Refusal) return referred
  const image = await imageIn(fields['input_image'], account)
  if (image instanceof Refusal) return image
  const videos = videosIn(fields['references'], isForm)
  if (videos instanceof Refusal) return videos
  const given = [...referred, ...image]
  const param = referred.length === 0 && image.length > 0 ? 'input_image' : 'input_reference'
  const problem = judge(given, videos.length, param, model, rule)
  return problem ?? [...given, ...videos]
}

/** Undefined when the model accepts all of it. */
function judge(
  given: InputMedia[],
  videos: number,
  param: string,
  model: string,
  rule: InputRule,
): Refusal | undefined {
  const images = given.filter(({ kind }) => kind === 'image').length
  const lastClip = given.findLastIndex(({ kind }) => kind === 'video')
  if (lastClip >= 0 && rule.clips === 'none') {
    const place = rule.videos[1] > 0 ? "; videos go into 'references.video'" : ''
    return wrong(param, `${model} takes no video in '${param}'${place}`)
  }
  if (lastClip > 0 && rule.clips === 'first') {
    return wrong(param, `${model} takes one video in '${param}', as its first item`)
  }
  if (images > 0 && rule.images[1] === 0) return wrong(param, `${model} takes no images`)
  if (images > rule.images[1]) return tooMany(param, model, rule.images[1])
  if (videos > rule.videos[1]) {
    const max = rule.videos[1] === 0 ? 'no videos here' : `at most ${rule.videos[1]}`
    return wrong('references.video', `${model} takes ${max}`)
  }
  const total = given.length + videos
  if (total > rule.total[1]) return tooMany(param, model, rule.total[1])
  if (videos < rule.videos[0]) {
    return wrong('references.video', `${model} needs a video in 'references.video'`)
  }
  if (images < rule.images[0] || total < rule.total[0]) {
    return wrong('input_reference', `${model} needs an input, such as an image`)
  }
  return undefined
}

const tooMany = (param: string, model: string, max: number): Refusal =>
  refuse('too_many_images', `${model} takes at most ${max} in '${param}'`, { param })

async function referencesIn(value: unknown, account: string | undefined): Promise<Found> {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return listOf(await referenceAt(value, 'input_reference', account))
  if (value.length > maxItems) {
    const message = `'input_reference' has more than ${maxItems} items`
    return refuse('too_many_images', message, { param: 'input_reference' })
  }
  return readEach(value, (each, index) => referenceAt(each, `input_reference[${index}]`, account))
}

/** An address with a video's extension is a video, whatever its key; otherwise the key decides. */
function referenceAt(
  value: unknown,
  place: string,
  account: string | undefined,
): Promise<InputMedia | Refusal> | Refusal {
  if (typeof value === 'string') return mediumOf(kindOf(value), value, place, account)
  if (isUpload(value)) return mediumOf('image', value, place, account)
  if (!isObject(value)) return misplaced(place)
  const image = urlOf(value['image_url'])
  const video = urlOf(value['video_url'])
  if ((image === undefined) === (video === undefined)) return misplaced(place)
  return image === undefined
    ? mediumOf('video', video, place, account)
    : mediumOf(kindOf(image), image, place, account)
}

const kindOf = (value: unknown): InputMedia['kind'] =>
  typeof value === 'string' && isVideoAddress(value) ? 'video' : 'image'

const misplaced = (place: string): Refusal =>
  wrong('input_reference', `'${place}' must be an address, {image_url} or {video_url}`)

/** `{image_url: '…'}` and `{image_url: {url: '…'}}` mean the same. */
function urlOf(value: unknown): unknown {
  const url = isObject(value) && !isUpload(value) ? (value['url'] ?? 0) : value
  return url ?? undefined
}

const isVideoAddress = (url: string): boolean => /^https?:[^?#]*\.(?:mp4|mov)(?:[?#]|$)/i.test(url)

async function imageIn(value: unknown, account: string | undefined): Promise<Found> {
  if (value === undefined || value === null) return []
  return listOf(await mediumOf(kindOf(value), value, 'input_image', account))
}

function videosIn(references: unknown, form: boolean): Found {
  if (references === undefined || references === null) return []
  if (!isObject(references)) return wrong('references', "'references' must be an object")
  const other = Object.keys(references).find((name) => misplacedReferences.has(name))
  if (other !== undefined && references[other] !== null) {
    return wrong(
      `references.${other}`,
      `'references.${other}' is not taken; use ${misplacedReferences.get(other)}`,
    )
  }
  const video = references['video'] ?? []
  // In some forms a list of one looks like a text.
  const list = form && typeof video === 'string' ? [video] : video
  if (!Array.isArray(list)) {
    return wrong('references.video', "'references.video' must be a list of addresses")
  }
  if (list.length > maxItems) {
    return wrong('references.video', `'references.video' has more than ${maxItems} items`)
  }
  const videos = list.map((each, index) => videoAt(each, `references.video[${index}]`))
  return videos.find((each) => each instanceof Refusal) ?? (videos as InputMedia[])
}

/** Ignoring it would make, and charge for, another video than requested. */
const misplacedReferences: ReadonlyMap<string, string> = new Map([
  ['image', "'input_reference'"],
  ['images', "'input_reference'"],
  ['image_url', "'input_reference'"],
  ['videos', "'references.video'"],
  ['video_url', "'references.video'"],
])

const listOf = (medium: InputMedia | Refusal): Found =>
  medium instanceof Refusal ? medium : [medium]

const paramOf = (place: string): string => place.replace(/\[\d+\]$/, '')

async function mediumOf(
  kind: InputMedia['kind'],
  value: unknown,
  place: string,
  account: string | undefined,
): Promise<InputMedia | Refusal> {
  if (kind === 'video') return videoAt(value, place)
  const param = paramOf(place)
  if (isUpload(value)) return uploadedImage(value, place, param) ?? noImage(place)
  if (typeof value !== 'string') return wrong(param, `'${place}' must be an address`)
  const at = { place, param, account }
  if (/^\s*data:/i.test(value)) return inlineImage(value, at)
  if (isAddress(value)) return { kind, url: value }
  const message = `'${place}' must be an http or https address, or data:image/…;base64`
  return (await bareImage(value, at)) ?? wrong(param, message)
}

const noImage = (place: string): Refusal =>
  wrong(paramOf(place), `the file '${place}' must be an image; a video is given by its address`)

function videoAt(value: unknown, place: string): InputMedia | Refusal {
  if (isUpload(value)) return noImage(place)
  if (typeof value !== 'string') return wrong(paramOf(place), `'${place}' must be an address`)
  return isAddress(value)
    ? { kind: 'video', url: value }
    : wrong(paramOf(place), `'${place}' must be an http or https address`)
}
