// Reads a request for a native video: what is wrong with a field is refused as the upstream would,
// and a wrong command in the text is passed over.
import {
  framesIn,
  type NativeResolution,
  nativeResolutions,
  nativeSize,
  secondsOf,
  tokensOf,
} from '../../src/contract/media/video-size.ts'
import { asList, asObject, asText, invalid, type Json, missing } from '../http/fields.ts'
import { seedOf } from '../media/media-address.ts'
import type { Fault } from '../protocol.ts'

export interface NativeOrder {
  model: string
  resolution: NativeResolution
  ratio: string
  /** As requested; a poll returns one of them. */
  frames: number | undefined
  seconds: number
  width: number
  height: number
  tokens: number
  seed: number
  videoSeed: string
  /** Whether its last frame is wanted as an image. */
  lastFrame: boolean
  /** Returned as it came, while it is known. */
  user: string | undefined
}

const usualSeconds = 5
const maxSeconds = 12
const maxSeed = 4_294_967_295
const maxUserLetters = 64
const minFrames = 29
const maxFrames = 289
export const ratios = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive']
const itemTypes = ['text', 'image_url', 'draft_task']

export function readNativeRequest(fields: Json): NativeOrder | Fault {
  const model = asText(fields['model'])
  if (model === '') return missing('model')
  const content = asList(fields['content']).map(asObject)
  const fault = faultOfContent(model, content) ?? faultOfFields(model, fields)
  if (fault !== undefined) return fault
  const text = content.map((item) => asText(item['text'])).join(' ')
  return orderOf(model, content, withCommands(fields, text))
}

/** What is in the body goes before what is in the text. */
function withCommands(fields: Json, text: string): Json {
  const command = (pattern: string) =>
    new RegExp(`--(?:${pattern})[ =]+(\\S+)`).exec(text)?.[1] ?? undefined
  const number = (value: string | undefined) => (value === undefined ? undefined : Number(value))
  const given = {
    resolution: command('resolution|rs'),
    ratio: command('ratio|rt'),
    duration: number(command('duration|dur')),
    frames: number(command('frames')),
    seed: number(command('seed')),
  }
  const good = Object.entries(given).filter(
    ([name, value]) => value !== undefined && faultOfFields('', { [name]: value }) === undefined,
  )
  return { ...Object.fromEntries(good), ...fields }
}

function orderOf(model: string, content: readonly Json[], fields: Json): NativeOrder {
  const usual = /-1-0-pro/.test(model) ? '1080p' : '720p'
  const resolution = (fields['resolution'] ?? usual) as NativeResolution
  const asked = asText(fields['ratio'] ?? 'adaptive')
  // Images are not read: a ratio that follows them is the default one.
  const ratio = asked === 'adaptive' ? '16:9' : asked
  const frames = fields['frames'] as number | undefined
  const length = Number(fields['duration'] ?? usualSeconds)
  const wanted = length === -1 ? usualSeconds : length
  const images = frames ?? framesIn(wanted)
  return {
    model,
    resolution,
    ratio,
    frames,
    ...videoOf(model, resolution, ratio, images)!,
    seed: Number(fields['seed'] ?? -1),
    videoSeed: seedOf(model, content, resolution, ratio, images, fields['seed']),
    lastFrame: fields['return_last_frame'] === true,
    user: fields['safety_identifier'] as string | undefined,
  }
}

/** Undefined when there is no such shape. */
export function videoOf(
  model: string,
  resolution: NativeResolution,
  ratio: string,
  images: number,
): Pick<NativeOrder, 'seconds' | 'width' | 'height' | 'tokens'> | undefined {
  const size = nativeSize(model, resolution, ratio)
  return size && { seconds: secondsOf(images), ...size, tokens: tokensOf(size, images) }
}

function faultOfContent(model: string, content: readonly Json[]): Fault | undefined {
  if (content.length === 0) return missing('content')
  const types = content.map(({ type }) => asText(type))
  const unknownType = types.find((type) => !itemTypes.includes(type))
  if (unknownType !== undefined)
    return invalid('content.type', `content.type '${unknownType}' is invalid.`)
  const images = content.filter(({ type }) => type === 'image_url')
  for (const { image_url } of images) {
    if (!/^https?:\/\/.|^data:image\/./.test(asText(asObject(image_url)['url']))) {
      return invalid('content.image_url', 'image_url.url must be an address or a data URI.')
    }
  }
  if (/-i2v(-|$)/.test(model) && images.length === 0) {
    return invalid('content', 'image to video models require image in content.')
  }
  if (/-t2v(-|$)/.test(model) && images.length > 0) {
    return invalid('content', 'text to video models do not support image in content.')
  }
  const roles = images.map(({ role }) => role)
  return images.length > 1 && roles.includes(undefined)
    ? invalid('content', 'role must be specified for image contents.')
    : undefined
}

function faultOfFields(model: string, fields: Json): Fault | undefined {
  const { resolution = '720p', ratio = '16:9', duration = usualSeconds, frames, seed = -1 } = fields
  const wrong = (name: string) =>
    invalid(name, `the parameter ${name} specified in the request is not valid.`)
  if (!nativeResolutions.includes(resolution as NativeResolution)) return wrong('resolution')
  if (!ratios.includes(asText(ratio))) return wrong('ratio')
  const min = /-1-5-/.test(model) ? 4 : 2
  const free = duration === -1 && /-1-5-/.test(model)
  if (!free && !isWholeWithin(duration, min, maxSeconds)) return wrong('duration')
  if (frames !== undefined) {
    const fits = isWholeWithin(frames, minFrames, maxFrames) && (Number(frames) - 25) % 4 === 0
    if (!fits) return wrong('frames')
  }
  const { safety_identifier: user = '' } = fields
  if (typeof user !== 'string' || user.length > maxUserLetters) return wrong('safety_identifier')
  return isWholeWithin(seed, -1, maxSeed) ? undefined : wrong('seed')
}

const isWholeWithin = (value: unknown, min: number, max: number): boolean =>
  Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max
