// Reads a request for a video: what is wrong with it is refused as the upstream would.
import { asList, asObject, asText, invalid, type Json, missing } from '../http/fields.ts'
import { seedOf } from '../media/media-address.ts'
import type { Fault } from '../protocol.ts'

export interface VideoInput {
  seconds: number
  resolution: string
  width: number
  height: number
  /** Made from all that decides the video; the images handed over are not kept. */
  videoSeed: string
}

const usualSeconds = 8
const minSeconds = 4
const maxReferences = 3
const lines: Readonly<Record<string, number>> = { '720p': 720, '1080p': 1080 }
const ratios = ['16:9', '9:16']

export function readVideoRequest(model: string, fields: Json): VideoInput | Fault {
  const instances = asList(fields['instances'])
  if (instances.length !== 1) return invalid('instances', 'Exactly one instance is supported.')
  const instance = asObject(instances[0])
  const parameters = asObject(fields['parameters'])
  if (asText(instance['prompt']) === '') return missing('instances[0].prompt')
  const fault = faultOfImages(instance) ?? faultOfParameters(parameters)
  if (fault !== undefined) return fault
  const { durationSeconds = usualSeconds, resolution = '720p', aspectRatio = '16:9' } = parameters
  return {
    seconds: Number(durationSeconds),
    ...sizeOf(asText(resolution), aspectRatio === '16:9'),
    videoSeed: seedOf(model, instance, parameters),
  }
}

export function sizeOf(resolution: string, isWide: boolean) {
  const short = lines[resolution]!
  const long = (short * 16) / 9
  const [width, height] = isWide ? [long, short] : [short, long]
  return { resolution, width: width!, height: height! }
}

function faultOfImages(instance: Json): Fault | undefined {
  const { image, lastFrame, referenceImages } = instance
  const references = asList(referenceImages)
  if (references.length > maxReferences) {
    return invalid('referenceImages', `At most ${maxReferences} reference images are supported.`)
  }
  if (lastFrame !== undefined && image === undefined) {
    return invalid('lastFrame', '`lastFrame` needs an `image`.')
  }
  const inner = references.map((each) => asObject(each)['image'])
  for (const each of [image, lastFrame, ...inner]) {
    if (each !== undefined && !isImage(asObject(each))) {
      return invalid('image', 'An image must have `bytesBase64Encoded` and `mimeType`.')
    }
  }
  return undefined
}

/** As bytes only: nothing is fetched here. */
const isImage = ({ bytesBase64Encoded, mimeType }: Json): boolean =>
  asText(bytesBase64Encoded) !== '' && asText(mimeType).startsWith('image/')

function faultOfParameters(parameters: Json): Fault | undefined {
  const { durationSeconds = usualSeconds, resolution = '720p', aspectRatio = '16:9' } = parameters
  const seconds = Number(durationSeconds)
  if (!Number.isInteger(seconds) || seconds < minSeconds || seconds > usualSeconds) {
    const message = `\`durationSeconds\` must be from ${minSeconds} to ${usualSeconds}.`
    return invalid('durationSeconds', message)
  }
  if (lines[asText(resolution)] === undefined) {
    return invalid('resolution', '`resolution` must be 720p or 1080p.')
  }
  if (!ratios.includes(asText(aspectRatio))) {
    return invalid('aspectRatio', `\`aspectRatio\` must be one of ${ratios.join(', ')}.`)
  }
  const { sampleCount = 1 } = parameters
  return sampleCount === 1 ? undefined : invalid('sampleCount', '`sampleCount` must be 1.')
}
