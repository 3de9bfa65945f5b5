// Reads a video request, in JSON or a form, as a request of no dialect. What each model accepts is in
// rules.ts; unknown fields are ignored.
import { z } from 'zod'
import type { VideoParams } from '../../contract/caller-api.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { resolutions } from '../../contract/task.ts'
import { type Fields, modelIn, wrong } from '../common/fields.ts'
import { asNumber, oneOf, readFields, seed, whole } from '../media/fields.ts'
import { mediaIn } from './media.ts'
import { misnamedIn } from './misnamed.ts'
import { defaultSeconds, maxSeconds, minSeconds, ratioOf, ruleFor } from './rules.ts'

interface VideoCall {
  model: string
  request: VideoParams
}

const wrongSize = "'size' must be like 1280x720 or 1080x1920: 720 or 1080 on its short side"
const anyMin = minSeconds('')

/** In the order in which wrong fields are refused. */
const fieldsFrom = (min: number) =>
  z.object({
    prompt: z.string("'prompt' must be a string").default('').describe('Models of text need it.'),
    // A number, or its digits as text: SDKs send those in JSON too.
    seconds: z
      .union([whole('seconds', anyMin, maxSeconds), z.string().regex(/^0{0,8}(?:[2-9]|1[0-5])$/)])
      .refine((given) => Number(given) >= min)
      .optional()
      .describe(
        `Length, ${anyMin} to ${maxSeconds}, of vfb models from 3; default ${defaultSeconds}. Edits without one are as long as their source.`,
      ),
    size: z
      .string(wrongSize)
      .optional()
      .describe('Instead of `resolution`: `1280x720`, `1080x1920`; 720 or 1080 on its short side.'),
    resolution: oneOf('resolution', resolutions).optional().describe('Default `1080p`.'),
    seed: seed().optional(),
  })

export const videoFields = fieldsFrom(anyMin)
const byMin = new Map([[anyMin, videoFields]])

function fieldsOf(model: string): typeof videoFields {
  const min = minSeconds(model)
  const known = byMin.get(min) ?? fieldsFrom(min)
  byMin.set(min, known)
  return known
}

const codes = {
  seconds: 'invalid_duration',
  size: 'invalid_resolution',
  resolution: 'invalid_resolution',
  seed: 'invalid_seed',
} as const

interface VideoOptions {
  /** Every value came as text, so digits may be a number. */
  isForm?: boolean
  account?: string | undefined
  /** The model whose rules apply, where another serves the one that is called. */
  servedAs?(name: string): string
}

export async function parseVideo(
  fields: Fields,
  { isForm = false, account, servedAs = (name) => name }: VideoOptions = {},
): Promise<VideoCall | Refusal> {
  const called = modelIn(fields)
  if (called instanceof Refusal) return called
  const model = servedAs(called)
  const misnamed = misnamedIn(fields)
  if (misnamed !== undefined) return misnamed
  const rule = ruleFor(model)
  const given = isForm ? { ...fields, seed: asNumber(fields['seed']) } : fields
  const read = readFields(fieldsOf(model), given, codes)
  if (read instanceof Refusal) return read.code === codes.seconds ? wrongSeconds(model) : read
  const { prompt, size, resolution, seed } = read
  const seconds = Number(read.seconds ?? defaultSeconds)
  const shape = resolution === undefined ? shapeOfSize(size) : { resolution }
  if (shape instanceof Refusal) return shape
  const media = await mediaIn(fields, { model, rule, isForm, account })
  if (media instanceof Refusal) return media
  if (rule.needsPrompt && prompt.trim() === '') {
    return wrong('prompt', `${model} needs a 'prompt'`)
  }
  const isSourceLong =
    rule.followsSource === 'always' ||
    (rule.followsSource === 'unless_asked' && read.seconds === undefined)
  return {
    model: called,
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

function wrongSeconds(model: string): Refusal {
  const message = `'seconds' must be a whole number from ${minSeconds(model)} to ${maxSeconds} for ${model}`
  return refuse(codes.seconds, message, { param: 'seconds' })
}

/** 1280x720 -> 720p, 16:9. The price follows the short side. */
function shapeOfSize(
  size: string | undefined,
): Pick<VideoParams, 'resolution' | 'ratio'> | Refusal {
  if (size === undefined) return {}
  const sides = /^(\d{3,4})x(\d{3,4})$/.exec(size)
  const [width, height] = [Number(sides?.[1]), Number(sides?.[2])]
  const resolution = resolutions.find((each) => each === `${Math.min(width, height)}p`)
  const ratio = ratioOf(width, height)
  if (resolution !== undefined && ratio !== undefined) return { resolution, ratio }
  return refuse(codes.size, wrongSize, { param: 'size' })
}
