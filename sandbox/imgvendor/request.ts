// Reads a request for images on either path: what is wrong with it is refused as the upstream
// would. Addresses are not fetched, and no callback is sent.
import { asObject, asText, invalid, isFault, isWhole, type Json, missing } from '../http/fields.ts'
import {
  type ImageBatch,
  imageSeed,
  sourceOf,
  usualFidelity,
  usualSide,
} from '../media/image-request.ts'
import type { Fault } from '../protocol.ts'
import { type Inputs, readGenerationInputs, readOmniInputs } from './inputs.ts'

export const paths = ['generations', 'omni-image'] as const
export type ImagePath = (typeof paths)[number]

export interface ImageInput extends ImageBatch {
  path: ImagePath
  ratio: string
  resolution: string
  /** Images that belong together, listed under another name. */
  isSeries: boolean
  hasWatermark: boolean
  externalId: string | undefined
}

const ratios = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9']
const resolutions = ['1k', '2k', '4k']
const maxImages = 9
const usualSeries = 4
const maxPromptLetters = 2500

/** How the names of the models of a path end; what stands before is the vendor's. */
const models: Readonly<Record<ImagePath, RegExp>> = {
  generations: /(?:^|-)(?:v1|v1-5|v2|v2-new|v2-1|v3)$/,
  'omni-image': /(?:^|-)(?:image-o1|v3-omni)$/,
}
const usualModel: Readonly<Record<ImagePath, string>> = {
  generations: 'imgvendor-v1',
  'omni-image': 'imgvendor-image-o1',
}

export function readImageRequest(
  path: ImagePath,
  given: Json,
): (ImageInput & { model: string }) | Fault {
  // Null is left out.
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
  const model = asText(fields['model_name'] ?? usualModel[path])
  const fault = faultOfModel(path, model) ?? faultOfWords(fields) ?? faultOfExtras(fields)
  if (fault !== undefined) return fault
  const shape = readShape(path, model, fields)
  if (isFault(shape)) return shape
  const amount = readAmount(path, model, fields)
  if (isFault(amount)) return amount
  const inputs =
    path === 'generations' ? readGenerationInputs(model, fields) : readOmniInputs(fields)
  if (isFault(inputs)) return inputs
  const { prompt, negative_prompt: without, watermark_info: watermark } = fields
  return {
    model,
    path,
    ...shape,
    ...amount,
    ...sizeOf(shape),
    seed: imageSeed(path, model, prompt, without, shape, amount.isSeries, inputs),
    ...sourceOf(inputs.images, percentOf(inputs)),
    hasWatermark: asObject(watermark)['enabled'] === true,
    externalId: asText(fields['external_task_id']) || undefined,
  }
}

const percentOf = ({ fidelity }: Inputs): number =>
  fidelity === undefined ? usualFidelity : Math.round(fidelity * 100)

function faultOfModel(path: ImagePath, model: string): Fault | undefined {
  if (models[path].test(model)) return undefined
  const elsewhere = paths.find((other) => models[other].test(model))
  const message = `model_name '${model}' is not supported`
  if (elsewhere !== undefined) return invalid('model_name', `${message} on this path`)
  return { status: 404, message, reason: 'model_not_found' }
}

function faultOfWords({ prompt, negative_prompt: without = '' }: Json): Fault | undefined {
  if (typeof prompt !== 'string' || prompt === '') return missing('prompt')
  const tooLong = `must have at most ${maxPromptLetters} characters`
  if ([...prompt].length > maxPromptLetters) return invalid('prompt', `prompt ${tooLong}`)
  if (typeof without === 'string' && [...without].length <= maxPromptLetters) return undefined
  return invalid('negative_prompt', `negative_prompt ${tooLong}`)
}

function faultOfExtras(fields: Json): Fault | undefined {
  const { watermark_info: watermark = {}, external_task_id: external = '' } = fields
  const { enabled = false } = asObject(watermark)
  if (typeof watermark !== 'object' || typeof enabled !== 'boolean') {
    return invalid('watermark_info', 'watermark_info must be an object with a boolean in enabled')
  }
  if (typeof external === 'string') return undefined
  return invalid('external_task_id', 'external_task_id must be a string')
}

/** The largest images are made by one model only. */
function readShape(path: ImagePath, model: string, fields: Json) {
  const isOmni = path === 'omni-image'
  const allowed = model.endsWith('v3-omni') ? resolutions : resolutions.slice(0, 2)
  const resolution = asText(fields['resolution'] ?? '1k')
  if (!allowed.includes(resolution)) {
    return invalid('resolution', `resolution must be one of ${allowed.join(', ')}`)
  }
  const asked = asText(fields['aspect_ratio'] ?? (isOmni ? 'auto' : '16:9'))
  const ratio = isOmni && asked === 'auto' ? '1:1' : asked
  if (ratios.includes(ratio)) return { ratio, resolution }
  return invalid('aspect_ratio', `aspect_ratio must be one of ${ratios.join(', ')}`)
}

function readAmount(
  path: ImagePath,
  model: string,
  fields: Json,
): { count: number; isSeries: boolean } | Fault {
  const { result_type: type = 'single', n = 1, series_amount: amount = 'auto' } = fields
  if (path === 'omni-image' && type !== 'single') {
    if (type !== 'series' || !model.endsWith('v3-omni')) {
      return invalid('result_type', `result_type '${asText(type)}' is not supported`)
    }
    if (amount === 'auto') return { count: usualSeries, isSeries: true }
    if (isWhole(amount) && amount >= 2 && amount <= maxImages) {
      return { count: amount, isSeries: true }
    }
    return invalid('series_amount', `series_amount must be from 2 to ${maxImages}`)
  }
  if (isWhole(n) && n <= maxImages) return { count: n, isSeries: false }
  return invalid('n', `n must be a whole number from 1 to ${maxImages}`)
}

/** As many points as a square of that resolution has, in whole sixteens: 1k, 16:9 -> 1360 x 768 */
export function sizeOf({ ratio, resolution }: { ratio: string; resolution: string }) {
  const [across = 1, down = 1] = ratio.split(':').map(Number)
  const side = usualSide * Number.parseInt(resolution, 10)
  const sixteens = (length: number) => Math.round(length / 16) * 16
  return {
    width: sixteens(side * Math.sqrt(across / down)),
    height: sixteens(side * Math.sqrt(down / across)),
  }
}

/** For ids: both are numbers from 0. */
export const shapeNumber = ({ ratio, resolution }: { ratio: string; resolution: string }): number =>
  ratios.indexOf(ratio) * resolutions.length + resolutions.indexOf(resolution)

export function shapeNumbered(number: number): { ratio: string; resolution: string } | undefined {
  const ratio = ratios[Math.floor(number / resolutions.length)]
  const resolution = resolutions[number % resolutions.length]!
  return ratio === undefined ? undefined : { ratio, resolution }
}
