// The fields of an image task, one zod schema for each path: the parser and the document come from it. Which
// fields go together, and with which model, is in parse.ts.
import { z } from 'zod'
import { type Refusal, refuse } from '../../contract/errors.ts'
import { plainBase64After } from '../../lib/json/json-thread.ts'
import { wrong } from '../common/fields.ts'
import { oneOf, refusing, text, whole } from '../media/fields.ts'
import { isAddress, isLongerThan } from '../media/images.ts'
import { elementModel, referenceModel } from './models.ts'

const maxPrompt = 2_500
const maxImageBytes = 10 * 1024 * 1024
const maxBase64 = Math.ceil(maxImageBytes / 3) * 4
const maxExternalId = 128
export const maxImages = 9
/** Images and elements together. */
export const maxInputs = 10

const ratios = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9'] as const

export const noPrompt = "'prompt' must be a non-empty string"
export const tooManyInputs = `at most ${maxInputs} images and elements are taken together`
export const wrongWord = (name: string, words: readonly string[]): string =>
  `'${name}' must be one of ${words.join(', ')}`

const word = <const Words extends readonly [string, ...string[]]>(name: string, words: Words) =>
  oneOf(name, words, wrongWord(name, words))

const longText = (name: string) => text(name, maxPrompt, `is longer than ${maxPrompt} characters`)

/** What a store can hold and an address can name. */
export const isPlain = (given: string): boolean => given.isWellFormed() && !/\p{Cc}/u.test(given)

const isExternalId = (id: string): boolean =>
  id !== '' && !isLongerThan(id, maxExternalId) && isPlain(id)
const wrongExternalId = `'external_task_id' must be a string of 1 to ${maxExternalId} characters`

const first = {
  external_task_id: z
    .string(wrongExternalId)
    .refine(isExternalId, wrongExternalId)
    .optional()
    .meta({
      description: 'A name of your own for the task, unique in the account.',
      minLength: 1,
      maxLength: maxExternalId,
      pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]+$',
    }),
  prompt: longText('prompt').regex(/\S/, noPrompt).describe('What to draw.'),
}

const dataUri = /^\s*data:image\/[a-z0-9.+-]{1,64};base64,/i

/** An address, or base64 as the upstream wants it: without what `data:` puts before it. */
export async function imageData(
  value: string,
  at: string,
  account: string | undefined,
): Promise<string | Refusal> {
  if (isAddress(value)) return value
  const from = dataUri.exec(value)?.[0].length ?? 0
  const base64 = await plainBase64After('', value, from, account)
  const param = at.replace(/\[\d+\]$/, '')
  if ((base64?.length ?? value.length - from) > maxBase64) {
    return refuse('request_too_large', `'${at}' is larger than ${maxImageBytes} bytes`, { param })
  }
  return base64 ?? wrong(param, `'${at}' must be an http or https address, or an image in base64`)
}

const fraction = (name: string) => {
  const message = `'${name}' must be a number from 0 to 1`
  return z.number(message).min(0, message).max(1, message).optional()
}

const wrongElement = "'{at}' must have an 'element_id', a whole number or its digits"
/** Ids may be larger than a number of JSON can safely be; then they come as digits. */
const elementId = z.union([z.int().min(1), z.string().regex(/^[1-9]\d{0,18}$/)], wrongElement)

const elements = z
  .array(
    z.looseObject({ element_id: elementId }, wrongElement),
    "'element_list' must be a list of {element_id}",
  )
  .refine(({ length }) => length <= maxInputs, refusing('too_many_images', tooManyInputs))
  .optional()
  .meta({ maxItems: maxInputs })

const wrongWatermark = "'watermark_info' must be an object with 'enabled', true or false"

const last = {
  n: whole('n', 1, maxImages).optional().describe('How many images; default 1.'),
  watermark_info: z
    .looseObject({ enabled: z.boolean(wrongWatermark).nullish() }, wrongWatermark)
    .optional(),
}

/** In the order in which wrong fields are refused. */
export const plainFields = z.object({
  ...first,
  image: z
    .string("'image' must be a string")
    .transform((given) => (given === '' ? undefined : given))
    .optional()
    .describe('A public address, or the bytes in base64.'),
  negative_prompt: longText('negative_prompt')
    .optional()
    .describe('What not to draw; not together with `image`.'),
  image_reference: oneOf(
    'image_reference',
    ['subject', 'face', ''],
    wrongWord('image_reference', ['subject', 'face']),
  )
    .optional()
    .describe(
      `What the image is for; of ${referenceModel} only, which needs it with an \`image\`.`,
    ),
  image_fidelity: fraction('image_fidelity').describe('How closely to follow the image.'),
  human_fidelity: fraction('human_fidelity').describe('How closely to follow the face.'),
  resolution: word('resolution', ['1k', '2k']).optional().describe('Default `1k`.'),
  aspect_ratio: word('aspect_ratio', ratios).optional().describe('Default `16:9`.'),
  ...last,
  element_list: elements.describe(`Elements its caller has upstream; of ${elementModel} only.`),
})

const noImage = "'{at}' must be {image} with an image"
const listedImage = z
  .string({ error: ({ input }) => (input == null ? noImage : "'{at}' must be a string") })
  .min(1, { error: noImage, abort: true })
const wrongAmount = `'series_amount' must be a whole number from 2 to ${maxImages}`

export const omniFields = z.object({
  ...first,
  image_list: z
    .array(z.looseObject({ image: listedImage }, noImage), "'image_list' must be a list of {image}")
    .refine(({ length }) => length <= maxInputs, refusing('too_many_images', tooManyInputs))
    .optional()
    .meta({ maxItems: maxInputs }),
  element_list: elements.describe('Elements its caller has upstream.'),
  resolution: word('resolution', ['1k', '2k', '4k']).optional().describe('Default `1k`.'),
  aspect_ratio: word('aspect_ratio', [...ratios, 'auto'])
    .optional()
    .describe('Default `auto`.'),
  ...last,
  result_type: word('result_type', ['single', 'series']).optional(),
  series_amount: z
    .union([whole('series_amount', 2, maxImages), z.literal('auto')], wrongAmount)
    .optional(),
})
