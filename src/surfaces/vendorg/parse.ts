// The create request: instances and parameters as a plain request in nobody's dialect. What is not
// known here goes nowhere; null counts as absent.
import { Refusal, refuse } from '../../contract/errors.ts'
import { type Resolution, resolutions, type VideoRequest } from '../../contract/task.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type Fields, wrong } from '../common/fields.ts'
import { mediaIn } from './media.ts'

export const maxWord = 64
export const maxSeed = 2_147_483_647
/** Longer than any video; which lengths a model makes is its upstream's to judge. */
export const maxSeconds = 600
const defaultSeconds = 8
const defaultResolution: Resolution = '720p'
const defaultRatio = '16:9'

export function parseOperation(fields: Fields): VideoRequest | Refusal {
  const instance = instanceIn(fields)
  if (instance instanceof Refusal) return instance
  const parameters = fields['parameters'] ?? {}
  if (!isObject(parameters)) return wrong('parameters', "'parameters' must be an object")
  const prompt = promptIn(instance)
  if (prompt instanceof Refusal) return prompt
  const count = parameters['sampleCount'] ?? 1
  if (count !== 1 && count !== '1') {
    return wrong('parameters.sampleCount', "'parameters.sampleCount' must be 1")
  }
  const seconds = secondsIn(parameters)
  if (seconds instanceof Refusal) return seconds
  const shape = shapeIn(parameters)
  if (shape instanceof Refusal) return shape
  const seed = seedIn(parameters)
  if (seed instanceof Refusal) return seed
  const inputs = inputsIn(parameters)
  if (inputs instanceof Refusal) return inputs
  const media = mediaIn(instance, parameters)
  if (media instanceof Refusal) return media
  return { prompt, seconds, ...shape, ...(seed !== undefined && { seed }), ...inputs, media }
}

type Inputs = Pick<VideoRequest, 'negativePrompt' | 'personGeneration' | 'enhancePrompt'>

/** What only some upstreams have a word for. */
function inputsIn(parameters: Fields): Inputs | Refusal {
  const negativePrompt = parameters['negativePrompt'] ?? undefined
  const personGeneration = parameters['personGeneration'] ?? undefined
  const enhancePrompt = parameters['enhancePrompt'] ?? undefined
  if (negativePrompt !== undefined && typeof negativePrompt !== 'string') {
    return wrong('parameters.negativePrompt', "'parameters.negativePrompt' must be a string")
  }
  if (personGeneration !== undefined && !isTextUpTo(personGeneration, maxWord)) {
    const be = 'a word such as allow_adult'
    return wrong('parameters.personGeneration', `'parameters.personGeneration' must be ${be}`)
  }
  if (enhancePrompt !== undefined && typeof enhancePrompt !== 'boolean') {
    return wrong('parameters.enhancePrompt', "'parameters.enhancePrompt' must be true or false")
  }
  return {
    ...(negativePrompt !== undefined && negativePrompt !== '' && { negativePrompt }),
    ...(personGeneration !== undefined && { personGeneration }),
    ...(enhancePrompt !== undefined && { enhancePrompt }),
  }
}

const isTextUpTo = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length <= most

function instanceIn(fields: Fields): Fields | Refusal {
  const { instances } = fields
  const [instance, ...others] = Array.isArray(instances) ? (instances as unknown[]) : []
  if (!isObject(instance)) {
    return wrong('instances', "'instances' must be a list with one object in it")
  }
  if (others.length > 0) {
    return wrong('instances', "'instances' has more than one item; send a request for each")
  }
  return instance
}

function promptIn({ prompt }: Fields): string | Refusal {
  if (typeof prompt !== 'string' || prompt.trim() === '') {
    return wrong('instances[0].prompt', "'instances[0].prompt' must be a non-empty string")
  }
  return prompt
}

/** A number, or its digits as text, which is how some examples send it. */
function secondsIn(parameters: Fields): number | Refusal {
  const given = parameters['durationSeconds'] ?? defaultSeconds
  const seconds = typeof given === 'string' && /^\d{1,3}$/.test(given) ? Number(given) : given
  if (isWithin(seconds, 1, maxSeconds)) return seconds
  const range = `a whole number from 1 to ${maxSeconds}`
  const param = 'parameters.durationSeconds'
  return refuse('invalid_duration', `'${param}' must be ${range}`, { param })
}

function shapeIn(parameters: Fields): Pick<VideoRequest, 'resolution' | 'ratio'> | Refusal {
  const given = parameters['resolution'] ?? defaultResolution
  const resolution = resolutions.find((each) => each === given)
  if (resolution === undefined) {
    const param = 'parameters.resolution'
    return refuse('invalid_resolution', `'${param}' must be '720p' or '1080p'`, { param })
  }
  const ratio = parameters['aspectRatio'] ?? defaultRatio
  if (typeof ratio !== 'string' || !/^[1-9]\d?:[1-9]\d?$/.test(ratio)) {
    return wrong('parameters.aspectRatio', "'parameters.aspectRatio' must be like 16:9 or 9:16")
  }
  return { resolution, ratio }
}

function seedIn(parameters: Fields): number | undefined | Refusal {
  const seed = parameters['seed'] ?? undefined
  if (seed === undefined || isWithin(seed, 0, maxSeed)) return seed
  const param = 'parameters.seed'
  return refuse('invalid_seed', `'${param}' must be a whole number from 0 to ${maxSeed}`, { param })
}

const isWithin = (value: unknown, least: number, most: number): value is number =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most
