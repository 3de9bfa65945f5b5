// Reads a generation or an edit, in JSON or a form, as a request of no dialect. Other settings that SDKs
// send, such as quality and style, are ignored.
import { z } from 'zod'
import { Refusal } from '../../contract/errors.ts'
import type { ImageRequest } from '../../contract/task.ts'
import { type Fields, modelIn, wrong } from '../common/fields.ts'
import { asNumber, oneOf, readFields, seed, text, whole } from '../media/fields.ts'
import { imagesIn } from './media.ts'

export interface ImageCall {
  kind: 'image'
  model: string
  request: ImageRequest
  wantsBytes: boolean
}

const maxPrompt = 32_000
const maxImages = 10
const [minSide, maxSide] = [64, 4_096]
const noPrompt = "'prompt' must be a non-empty string"
const wrongSize = `'size' must be 'auto' or like 1024x1024, each side from ${minSide} to ${maxSide}`
const noStream = "pictures do not come as a stream; leave 'stream' out"

/** In the order in which wrong fields are refused. */
export const imageFields = z.object({
  prompt: text('prompt', maxPrompt).regex(/\S/, noPrompt).describe('What to draw or to change.'),
  n: whole('n', 1, maxImages).optional().describe('How many images; default 1.'),
  size: z
    .string(wrongSize)
    .regex(/^(?:auto|[1-9]\d{1,3}x[1-9]\d{1,3})$/, { error: wrongSize, abort: true })
    .refine((size) => size === 'auto' || Object.values(sidesOf(size)).every(isSide), wrongSize)
    .optional()
    .describe(`\`auto\`, or width and height from ${minSide} to ${maxSide}: \`1024x1024\`.`),
  response_format: oneOf('response_format', ['url', 'b64_json'])
    .optional()
    .describe('Default `url`.'),
  stream: z.literal(false, noStream).optional().describe('Images do not come as a stream.'),
  // No SDK has these, but upstreams of this style know them.
  negative_prompt: text('negative_prompt', maxPrompt).optional().describe('What not to draw.'),
  seed: seed().optional(),
})

const sidesOf = (size: string): { width: number; height: number } => {
  const [width = 0, height = 0] = size.split('x').map(Number)
  return { width, height }
}

const isSide = (side: number): boolean => side >= minSide && side <= maxSide

/** `form`: every value came as text, so digits may be a number. */
export function parseGeneration(fields: Fields, form: boolean): ImageCall | Refusal {
  return parse(fields, form, { media: [], isEdit: false })
}

export async function parseEdit(
  fields: Fields,
  form: boolean,
  account?: string,
): Promise<ImageCall | Refusal> {
  for (const name of ['mask', 'markup']) {
    // Left out silently, it would change the whole image, and be charged for.
    if (fields[name] !== undefined && fields[name] !== null) {
      return wrong(name, `'${name}' is not taken here; say in the prompt what is to change`)
    }
  }
  const media = await imagesIn(fields, account)
  return media instanceof Refusal ? media : parse(fields, form, { media, isEdit: true })
}

function parse(
  fields: Fields,
  form: boolean,
  start: Pick<ImageRequest, 'media' | 'isEdit'>,
): ImageCall | Refusal {
  const model = modelIn(fields)
  if (model instanceof Refusal) return model
  if ((fields['prompt'] ?? undefined) === undefined) return wrong('prompt', noPrompt)
  const given = form ? fromForm(fields) : fields
  const read = readFields(imageFields, given, { seed: 'invalid_seed' })
  if (read instanceof Refusal) return read
  const { prompt, n = 1, size = 'auto', response_format, negative_prompt, seed } = read
  const request = {
    prompt,
    count: n,
    ...start,
    ...(size !== 'auto' && { size: sidesOf(size) }),
    ...(seed !== undefined && { seed }),
    ...(negative_prompt && { negativePrompt: negative_prompt }),
  }
  return { kind: 'image', model, request, wantsBytes: response_format === 'b64_json' }
}

const fromForm = (fields: Fields): Fields => ({
  ...fields,
  n: asNumber(fields['n']),
  seed: asNumber(fields['seed']),
  stream: fields['stream'] === 'false' ? false : fields['stream'],
})
