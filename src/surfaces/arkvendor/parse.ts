// The native request: what the gateway must understand of it to route it and to set money aside.
// The rest is the upstream's to judge, and goes up as it came.
import { Refusal, refuse } from '../../contract/errors.ts'
import type { VideoRequest } from '../../contract/task.ts'
import { type NativeResolution, nativeResolutions } from '../../contract/video-size.ts'
import { isObject } from '../../lib/json.ts'
import { type Fields, modelIn, wrong } from '../text/fields.ts'
import { estimateFor } from './estimate.ts'

export interface NativeCall {
  model: string
  request: VideoRequest
}

type Item = Readonly<Record<string, unknown>>

export const mostItems = 32
export const mostSeconds = 60
export const mostFrames = 1_500
export const mostSeed = 4_294_967_295
/** Never handed up: the caller's own address for a notice, and the gateway's own words. */
const keptBack = ['model', 'callback_url', 'aspect_ratio']

export function parseNative(given: Fields): NativeCall | Refusal {
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
  const model = modelIn(fields)
  if (model instanceof Refusal) return model
  const content = contentIn(fields)
  if (content instanceof Refusal) return content
  const problem = problemOf(fields)
  if (problem !== undefined) return problem
  const body = bodyOf(fields)
  const { tokens, seconds, resolution, ratio } = estimateFor(model, body, content)
  return {
    model,
    request: {
      prompt: textOf(content),
      seconds,
      resolution,
      ratio,
      ...(typeof fields['seed'] === 'number' && { seed: fields['seed'] }),
      media: [],
      native: { body, estimatedTokens: tokens },
    },
  }
}

/** Frames say the length more exactly, so they win. */
function bodyOf(fields: Fields): Fields {
  const ratio = fields['ratio'] ?? fields['aspect_ratio']
  const drop = fields['frames'] === undefined ? keptBack : [...keptBack, 'duration']
  const kept = Object.entries(fields).filter(([name]) => !drop.includes(name))
  return { ...Object.fromEntries(kept), ...(ratio !== undefined && { ratio }) }
}

function contentIn({ content }: Fields): Item[] | Refusal {
  if (!Array.isArray(content) || content.length === 0) {
    return wrong('content', "'content' must be a list with at least one item")
  }
  if (content.length > mostItems) {
    return wrong('content', `'content' has more than ${mostItems} items`)
  }
  for (const [index, item] of content.entries()) {
    const why = isObject(item) ? problemOfItem(item) : 'must be an object'
    if (why !== undefined) return wrong('content', `'content[${index}]' ${why}`)
  }
  const items = content as Item[]
  const draft = items.some(({ type }) => type === 'draft_task')
  return draft || textOf(items).trim() !== ''
    ? items
    : wrong('content', "'content' needs an item {type: 'text', text}")
}

function problemOfItem({ type, text, image_url: image }: Item): string | undefined {
  if (typeof type !== 'string') return "needs a 'type'"
  if (type === 'text') return typeof text === 'string' ? undefined : "needs a 'text'"
  if (type !== 'image_url') return undefined
  const url = isObject(image) ? image['url'] : undefined
  return typeof url === 'string' && url !== '' ? undefined : 'needs {image_url: {url}}'
}

const textOf = (content: readonly Item[]): string =>
  content
    .flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []))
    .join('\n')

function problemOf(fields: Fields): Refusal | undefined {
  const { resolution, duration, frames, seed } = fields
  if (resolution !== undefined && !nativeResolutions.includes(resolution as NativeResolution)) {
    const message = `'resolution' must be one of ${nativeResolutions.join(', ')}`
    return refuse('invalid_resolution', message, { param: 'resolution' })
  }
  for (const name of ['ratio', 'aspect_ratio']) {
    if (fields[name] !== undefined && typeof fields[name] !== 'string') {
      return wrong(name, `'${name}' must be a string such as '16:9'`)
    }
  }
  if (frames !== undefined && !isWithin(frames, 1, mostFrames)) {
    const message = `'frames' must be a number from 1 to ${mostFrames}`
    return refuse('invalid_duration', message, { param: 'frames' })
  }
  if (duration !== undefined && duration !== -1 && !isWithin(duration, 1, mostSeconds)) {
    const message = `'duration' must be a number from 1 to ${mostSeconds}, or -1`
    return refuse('invalid_duration', message, { param: 'duration' })
  }
  if (seed !== undefined && !(Number.isInteger(seed) && isWithin(seed, -1, mostSeed))) {
    const message = `'seed' must be a whole number from -1 to ${mostSeed}`
    return refuse('invalid_seed', message, { param: 'seed' })
  }
  return undefined
}

const isWithin = (value: unknown, least: number, most: number): boolean =>
  typeof value === 'number' && value >= least && value <= most
