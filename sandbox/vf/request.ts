// Reads a request for a video: what is wrong with it is refused as the upstream would, and what
// the model was given is told apart only as far as usage needs it.
import { asList, asObject, asText, invalid, type Json, missing } from '../http/fields.ts'
import { seedOf } from '../media/media-address.ts'
import type { Fault } from '../protocol.ts'

export interface VideoInput {
  model: string
  /** Undefined when it is not known any more. */
  prompt: string | undefined
  seconds: number
  /** How long the videos handed over are, all together. */
  inputSeconds: number
  /** 720 or 1080. */
  lines: number
  ratio: string
  width: number
  height: number
  /** Made from all that decides the video; the media handed over are not kept. */
  videoSeed: string
}

const usualSeconds = 5
const maxSeconds = 15
const maxSeed = 2_147_483_647
const maxPromptLetters = 5000
const maxMedia = 20
/** Input videos are not read: every one counts as this long. */
export const secondsPerVideo = 5

const resolutions: Readonly<Record<string, number>> = { '720P': 720, '1080P': 1080 }
export const ratios = ['16:9', '9:16', '1:1', '4:3', '3:4', '4:5', '5:4', '9:21', '21:9']
const onceOnly = ['first_frame', 'last_frame', 'first_clip', 'driving_audio', 'video']
const videoRoles = ['first_clip', 'reference_video', 'video']
const roles = [...onceOnly, 'reference_image', 'reference_video', 'image_url']

export function readVideoRequest(fields: Json): VideoInput | Fault {
  const model = asText(fields['model'])
  if (model === '') return missing('model')
  const input = asObject(fields['input'])
  const parameters = asObject(fields['parameters'])
  const fault = faultOfInput(model, input) ?? faultOfParameters(model, parameters)
  if (fault !== undefined) return fault
  const lines = resolutions[asText(parameters['resolution'] ?? '1080P')]!
  const ratio = asText(parameters['ratio'] ?? '16:9')
  const inputSeconds = countVideos(input) * secondsPerVideo
  // An edit is as long as what is edited unless something else is asked for.
  const seconds = Number(parameters['duration'] ?? 0) || inputSeconds || usualSeconds
  return {
    model,
    prompt: asText(input['prompt']),
    seconds: Math.min(seconds, maxSeconds),
    inputSeconds,
    lines,
    ratio,
    ...sizeOf(lines, ratio),
    videoSeed: seedOf(model, input, parameters),
  }
}

function faultOfInput(model: string, input: Json): Fault | undefined {
  const prompt = input['prompt'] ?? ''
  if (typeof prompt !== 'string') return invalid('input.prompt', 'input.prompt must be a string.')
  if (prompt.length > maxPromptLetters) {
    return invalid('input.prompt', `input.prompt must have at most ${maxPromptLetters} letters.`)
  }
  const given = mediaOf(input)
  if (prompt === '' && given.length === 0) return missing('input.prompt')
  if (/-(i2v|r2v|video-?edit)(-|$)/.test(model) && given.length === 0) return missing('input.media')
  if (given.length > maxMedia) return invalid('input.media', 'input.media has too many entries.')
  for (const { role, url } of given) {
    if (!roles.includes(role)) return invalid('input.media', `Unknown media type: '${role}'.`)
    if (!/^(https?|oss):\/\/.|^data:./.test(url)) {
      return invalid('input.media', 'The url of a medium must be an address or a data URI.')
    }
  }
  const twice = onceOnly.find((role) => given.filter((one) => one.role === role).length > 1)
  if (twice === undefined) return undefined
  return invalid('input.media', `Only one medium of type '${twice}' is allowed.`)
}

function faultOfParameters(model: string, parameters: Json): Fault | undefined {
  const { resolution = '1080P', ratio = '16:9', duration = 0, seed = 0 } = parameters
  const wrong = (name: string, be: string) =>
    invalid(`parameters.${name}`, `parameters.${name} must be ${be}.`)
  if (typeof resolution !== 'string' || !Object.hasOwn(resolutions, resolution)) {
    return wrong('resolution', "'720P' or '1080P'")
  }
  if (!ratios.includes(asText(ratio))) return wrong('ratio', `one of ${ratios.join(', ')}`)
  const minSeconds = model.startsWith('vfb-') ? 3 : 2
  // Zero means as long as usual, or as what is edited.
  if (duration !== 0 && !isWholeWithin(duration, minSeconds, maxSeconds)) {
    return wrong('duration', `a whole number from ${minSeconds} to ${maxSeconds}`)
  }
  if (!isWholeWithin(seed, 0, maxSeed)) return wrong('seed', `a whole number up to ${maxSeed}`)
  return undefined
}

const isWholeWithin = (value: unknown, min: number, max: number): boolean =>
  Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max

/** Older models have fields of their own for what newer ones put in a list. */
function mediaOf(input: Json): { role: string; url: string }[] {
  const listed = asList(input['media']).map((entry) => {
    const { type, url } = asObject(entry)
    return { role: asText(type), url: asText(url) }
  })
  const image = input['img_url']
  const videos = asList(input['reference_video_urls'])
  return [
    ...listed,
    ...(image === undefined ? [] : [{ role: 'image_url', url: asText(image) }]),
    ...videos.map((url) => ({ role: 'reference_video', url: asText(url) })),
  ]
}

const countVideos = (input: Json): number =>
  mediaOf(input).filter(({ role }) => videoRoles.includes(role)).length

/** As many samples as 16:9 has, in whole eights: 720, 16:9 -> 1280 x 720; 1:1 -> 960 x 960 */
export function sizeOf(lines: number, ratio: string): { width: number; height: number } {
  const [across = 16, down = 9] = ratio.split(':').map(Number)
  const area = (lines * lines * 16) / 9
  const eights = (side: number) => Math.round(side / 8) * 8
  return {
    width: eights(Math.sqrt((area * across) / down)),
    height: eights(Math.sqrt((area * down) / across)),
  }
}
