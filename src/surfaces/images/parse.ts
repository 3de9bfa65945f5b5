// What a caller wants drawn or changed, of JSON or of a form, as a plain request of no dialect.
// SDKs send settings of their own vendor besides, such as quality and style: those go nowhere.
import { Refusal, refuse } from '../../contract/errors.ts'
import type { ImageRequest } from '../../contract/task.ts'
import { type Fields, modelIn, wrong } from '../common/fields.ts'
import { isLongerThan } from '../media/pictures.ts'
import { imagesIn } from './media.ts'

export interface ImageCall {
  kind: 'image'
  model: string
  request: ImageRequest
  wantsBytes: boolean
}

export const maxPrompt = 32_000
export const maxImages = 10
export const minSide = 64
export const maxSide = 4_096
export const maxSeed = 2_147_483_647

/** `form`: every value came as text, so digits may be a number. */
export function parseGeneration(fields: Fields, form: boolean): ImageCall | Refusal {
  return parse(fields, form, { media: [], isEdit: false })
}

export function parseEdit(fields: Fields, form: boolean): ImageCall | Refusal {
  for (const name of ['mask', 'markup']) {
    // Left out silently, it would change the whole picture, and be charged for.
    if (fields[name] !== undefined && fields[name] !== null) {
      return wrong(name, `'${name}' is not taken here; say in the prompt what is to change`)
    }
  }
  const media = imagesIn(fields)
  return media instanceof Refusal ? media : parse(fields, form, { media, isEdit: true })
}

function parse(
  fields: Fields,
  form: boolean,
  start: Pick<ImageRequest, 'media' | 'isEdit'>,
): ImageCall | Refusal {
  const model = modelIn(fields)
  if (model instanceof Refusal) return model
  const prompt = textIn(fields, 'prompt')
  if (prompt instanceof Refusal) return prompt
  if (prompt === undefined || prompt.trim() === '') {
    return wrong('prompt', "'prompt' must be a non-empty string")
  }
  const count = countIn(fields, form)
  if (count instanceof Refusal) return count
  const size = sizeIn(fields)
  if (size instanceof Refusal) return size
  const format = formatIn(fields)
  if (format instanceof Refusal) return format
  const streams = fields['stream'] ?? false
  if (streams !== false && !(form && streams === 'false')) {
    return wrong('stream', "pictures do not come as a stream; leave 'stream' out")
  }
  const extras = extrasIn(fields, form)
  if (extras instanceof Refusal) return extras
  const request = { prompt, count, ...start, ...(size !== undefined && { size }), ...extras }
  return { kind: 'image', model, request, wantsBytes: format === 'b64_json' }
}

function textIn(fields: Fields, name: string): string | undefined | Refusal {
  const text = fields[name]
  if (text === undefined || text === null) return undefined
  if (typeof text !== 'string') return wrong(name, `'${name}' must be a string`)
  return isLongerThan(text, maxPrompt)
    ? wrong(name, `'${name}' has more than ${maxPrompt} characters`)
    : text
}

const numberIn = (value: unknown, form: boolean): unknown =>
  form && typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value

const isWithin = (value: unknown, least: number, most: number): value is number =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most

function countIn(fields: Fields, form: boolean): number | Refusal {
  const count = numberIn(fields['n'] ?? 1, form)
  return isWithin(count, 1, maxImages)
    ? count
    : wrong('n', `'n' must be a whole number from 1 to ${maxImages}`)
}

function sizeIn({ size }: Fields): ImageRequest['size'] | Refusal {
  if (size === undefined || size === null || size === 'auto') return undefined
  const sides = typeof size === 'string' ? /^([1-9]\d{1,3})x([1-9]\d{1,3})$/.exec(size) : null
  const [width, height] = [Number(sides?.[1]), Number(sides?.[2])]
  const fits = (side: number) => isWithin(side, minSide, maxSide)
  if (fits(width) && fits(height)) return { width, height }
  const sidesText = `each side from ${minSide} to ${maxSide}`
  const message = `'size' must be 'auto' or like 1024x1024, ${sidesText}`
  return refuse('invalid_request', message, { param: 'size' })
}

function formatIn(fields: Fields): 'url' | 'b64_json' | Refusal {
  const format = fields['response_format'] ?? 'url'
  if (format === 'url' || format === 'b64_json') return format
  return wrong('response_format', "'response_format' must be 'url' or 'b64_json'")
}

/** Not of the SDKs, but harmless: upstreams of this style know them. */
function extrasIn(
  fields: Fields,
  form: boolean,
): Pick<ImageRequest, 'seed' | 'negativePrompt'> | Refusal {
  const negativePrompt = textIn(fields, 'negative_prompt')
  if (negativePrompt instanceof Refusal) return negativePrompt
  const seed = numberIn(fields['seed'] ?? undefined, form)
  if (seed !== undefined && !isWithin(seed, 0, maxSeed)) {
    const message = `'seed' must be a whole number from 0 to ${maxSeed}`
    return refuse('invalid_seed', message, { param: 'seed' })
  }
  return {
    ...(seed !== undefined && { seed }),
    ...(negativePrompt && { negativePrompt }),
  }
}
