// The video request: a caller's fields, of JSON or of a form, as a plain request in nobody's
// dialect. What a model takes is in the rules; unknown fields go nowhere.

import type { VideoParams } from '../../contract/caller-api.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { resolutions } from '../../contract/task.ts'
import { type Fields, modelIn, wrong } from '../common/fields.ts'
import { mediaIn } from './media.ts'
import { misnamedIn } from './misnamed.ts'
import { defaultSeconds, maxSeconds, minSeconds, ratioOf, ruleFor } from './rules.ts'

export interface VideoCall {
  model: string
  request: VideoParams
}

export const maxSeed = 2_147_483_647

/** `form`: every value came as text, so digits may be a number. */
export function parseVideo(fields: Fields, form: boolean): VideoCall | Refusal {
  const model = modelIn(fields)
  if (model instanceof Refusal) return model
  const misnamed = misnamedIn(fields)
  if (misnamed !== undefined) return misnamed
  const rule = ruleFor(model)
  const prompt = promptIn(fields)
  if (prompt instanceof Refusal) return prompt
  const seconds = secondsIn(fields, model)
  if (seconds instanceof Refusal) return seconds
  const shape = shapeIn(fields)
  if (shape instanceof Refusal) return shape
  const seed = seedIn(fields, form)
  if (seed instanceof Refusal) return seed
  const media = mediaIn(fields, model, rule, form)
  if (media instanceof Refusal) return media
  if (rule.needsPrompt && prompt.trim() === '') {
    return wrong('prompt', `${model} needs a 'prompt'`)
  }
  const isSourceLong =
    rule.followsSource === 'always' ||
    (rule.followsSource === 'unless_asked' && (fields['seconds'] ?? undefined) === undefined)
  return {
    model,
    request: {
      prompt,
      seconds,
      ...shape,
      ...(seed !== undefined && { seed }),
      ...(isSourceLong && { followsSource: true }),
      media,
    },
  }
}

function promptIn(fields: Fields): string | Refusal {
  const prompt = fields['prompt'] ?? ''
  return typeof prompt === 'string' ? prompt : wrong('prompt', "'prompt' must be a string")
}

/** A number, or its digits as text: SDKs send those in JSON too. */
function secondsIn(fields: Fields, model: string): number | Refusal {
  const given = fields['seconds'] ?? defaultSeconds
  const seconds = digitsIn(given) ?? given
  const least = minSeconds(model)
  if (isWithin(seconds, least, maxSeconds)) return seconds
  const message = `'seconds' must be a whole number from ${least} to ${maxSeconds} for ${model}`
  return refuse('invalid_duration', message, { param: 'seconds' })
}

function seedIn(fields: Fields, form: boolean): number | undefined | Refusal {
  const given = fields['seed']
  if (given === undefined || given === null) return undefined
  const seed = form ? digitsIn(given) : given
  if (isWithin(seed, 0, maxSeed)) return seed
  const message = `'seed' must be a whole number from 0 to ${maxSeed}`
  return refuse('invalid_seed', message, { param: 'seed' })
}

const digitsIn = (value: unknown): number | undefined =>
  typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : undefined

const isWithin = (value: unknown, least: number, most: number): value is number =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most

type Shape = Pick<VideoParams, 'resolution' | 'ratio'>

function shapeIn(fields: Fields): Shape | Refusal {
  const { resolution, size } = fields
  if (size != null && typeof size !== 'string') return wrongSize()
  if (resolution === undefined || resolution === null) return shapeOfSize(size)
  const known = resolutions.find((each) => each === resolution)
  if (known !== undefined) return { resolution: known }
  const message = "'resolution' must be '720p' or '1080p'"
  return refuse('invalid_resolution', message, { param: 'resolution' })
}

/** 1280x720 -> 720p, 16:9. The short side is what the price goes by. */
function shapeOfSize(size: unknown): Shape | Refusal {
  if (size === undefined || size === null) return {}
  const sides = typeof size === 'string' ? /^(\d{3,4})x(\d{3,4})$/.exec(size) : null
  const [width, height] = [Number(sides?.[1]), Number(sides?.[2])]
  const resolution = resolutions.find((each) => each === `${Math.min(width, height)}p`)
  const ratio = ratioOf(width, height)
  if (resolution !== undefined && ratio !== undefined) return { resolution, ratio }
  return wrongSize()
}

function wrongSize(): Refusal {
  const message = "'size' must be like 1280x720 or 1080x1920: 720 or 1080 on its short side"
  return refuse('invalid_resolution', message, { param: 'size' })
}
