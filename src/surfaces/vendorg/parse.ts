// Reads the create request, instances and parameters, as a request of no dialect. Unknown fields are
// ignored; null counts as absent.
import { z } from 'zod'
import { Refusal } from '../../contract/errors.ts'
import { resolutions, type VideoRequest } from '../../contract/task.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type Fields, wrong } from '../common/fields.ts'
import { oneOf, readFields, seed, whole } from '../media/fields.ts'
import { mediaIn } from './media.ts'

const maxWord = 64
/** Longer than any video; the upstream judges which lengths a model makes. */
const maxSeconds = 600
const under = 'parameters.'
const name = (field: string) => `${under}${field}`
const must = (field: string, be: string) => `'${name(field)}' must be ${be}`
const wrongSeconds = must('durationSeconds', `a whole number from 1 to ${maxSeconds}`)
const wrongRatio = must('aspectRatio', 'like 16:9 or 9:16')
const wrongPerson = must('personGeneration', 'a word such as allow_adult')

/** In the order in which wrong fields are refused. */
export const operationParameters = z.object({
  sampleCount: z
    .literal([1, '1'], must('sampleCount', '1'))
    .optional()
    .describe('One video for each request.'),
  durationSeconds: z
    .union(
      [
        whole(name('durationSeconds'), 1, maxSeconds),
        // Digits as text, as some examples send it.
        z.string().regex(/^(?:0{0,2}[1-9]|0?[1-9]\d|[1-5]\d{2}|600)$/),
      ],
      wrongSeconds,
    )
    .default(8),
  resolution: oneOf(name('resolution'), resolutions).default('720p').describe('Default `720p`.'),
  aspectRatio: z
    .string(wrongRatio)
    .regex(/^[1-9]\d?:[1-9]\d?$/, wrongRatio)
    .default('16:9')
    .describe('Default `16:9`.'),
  seed: seed(name('seed')).optional(),
  // Only some upstreams have these.
  negativePrompt: z
    .string(must('negativePrompt', 'a string'))
    .optional()
    .describe('What not to show.'),
  personGeneration: z
    .string(wrongPerson)
    .max(maxWord, wrongPerson)
    .optional()
    .describe('Such as `allow_adult`.'),
  enhancePrompt: z
    .boolean(must('enhancePrompt', 'true or false'))
    .optional()
    .describe('Whether the upstream may reword the prompt.'),
})

const codes = {
  durationSeconds: 'invalid_duration',
  resolution: 'invalid_resolution',
  seed: 'invalid_seed',
} as const

export async function parseOperation(
  fields: Fields,
  account?: string,
): Promise<VideoRequest | Refusal> {
  const instance = instanceIn(fields)
  if (instance instanceof Refusal) return instance
  const parameters = fields['parameters'] ?? {}
  if (!isObject(parameters)) return wrong('parameters', "'parameters' must be an object")
  const prompt = promptIn(instance)
  if (prompt instanceof Refusal) return prompt
  const read = readFields(operationParameters, parameters, codes, under)
  if (read instanceof Refusal) return read
  const { durationSeconds, resolution, aspectRatio, seed } = read
  const { negativePrompt = '', personGeneration, enhancePrompt } = read
  const media = await mediaIn(instance, parameters, account)
  if (media instanceof Refusal) return media
  return {
    prompt,
    seconds: Number(durationSeconds),
    resolution,
    ratio: aspectRatio,
    ...(seed !== undefined && { seed }),
    ...(negativePrompt !== '' && { negativePrompt }),
    ...(personGeneration !== undefined && { personGeneration }),
    ...(enhancePrompt !== undefined && { enhancePrompt }),
    media,
  }
}

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
