// The words that schemas of the admin API are written in. A schema types the view, describes it in
// the document, and tells the command line which columns a list has. Files whose name ends in
// `schema.ts` import nothing but each other, the contract and zod: the console reads types from them.
import { z } from 'zod'
import { count, money } from '../contract/answers/fields.ts'
import type { Source } from '../contract/catalog.ts'
import { isTag } from '../contract/tags/index.ts'

export { amount, column, count, money, pageOf, time } from '../contract/answers/fields.ts'

/** Members are not sent the field. */
export const staffOnly = <T extends z.ZodType>(
  schema: T,
  description = '',
): z.ZodExactOptional<T> =>
  schema.exactOptional().meta({
    ...schema.meta(),
    staffOnly: true,
    description: `${description} Not for members.`.trim(),
  })

/** Of requests and tasks. */
export const marginFields = {
  cost: staffOnly(money().nullable(), 'What upstreams take for it; null: not known.'),
  margin: staffOnly(money().nullable(), 'The charge less refunds less the cost; null: not known.'),
}

const sources = ['builtin', 'file', 'api'] as const satisfies readonly Source[]
export const source = z
  .enum(sources)
  .describe('Who declared it: the gateway, gateway.yaml or this API.')

/** Names that the registries of surfaces and providers have; a schema file knows neither. */
export const interfaceName = () => z.string().meta({ names: 'interfaces' })
export const protocolName = () => z.string().meta({ names: 'protocols' })

/** Of requests, tasks and ledger entries. */
export const tagFields = {
  tags: z.record(z.string(), z.string()).describe('By name.'),
  end_user: z.string().nullable().describe('As the account keeps it: hashed, plain or not at all.'),
}

/** Filters of lists whose rows have tags. */
export const tagFilters = {
  tag: z
    .string()
    .refine(isTag, 'must be of the form name=value')
    .optional()
    .meta({ description: 'One tag, as `team=red`.', flag: 'NAME=VALUE' }),
  end_user: z
    .string()
    .optional()
    .meta({ description: 'An end user, as rows show it.', flag: 'NAME' }),
}

export const deleted = z.object({ id: z.string(), deleted: z.literal(true) })

/** Fields of a query. Each comes as text, and a field that is not there is left out. */
export const query = {
  text: (description: string, flag = 'NAME') => z.string().optional().meta({ description, flag }),
  choice: <const T extends readonly string[]>(words: T, description?: string) =>
    z
      .enum(words)
      .optional()
      .meta({ description, flag: words.length < 4 ? words.join('|') : 'NAME' }),
  flag: (description?: string) =>
    z
      .enum(['true', 'false'], { error: 'must be true or false' })
      .optional()
      .transform((text) => text === 'true')
      .meta({ description }),
  whole: (min: number, max: number, description: string) =>
    z
      .string()
      .transform(Number)
      .refine(
        (number) => Number.isInteger(number) && number >= min && number <= max,
        `must be a whole number from ${min} to ${max}`,
      )
      .meta({ type: 'integer', minimum: min, maximum: max })
      .optional()
      .meta({ description, flag: 'N' }),
  time: (description: string) =>
    z
      .string()
      .transform((text) => Date.parse(text))
      .refine((ms) => !Number.isNaN(ms), 'must be an RFC 3339 time')
      .meta({ format: 'date-time' })
      .optional()
      .meta({ description, flag: 'TIME' }),
}

export const accountField = query.text('Id or name of an account.', 'ID|NAME')
export const modelField = query.text('Name of a model.', 'MODEL')
export const channelField = query.text('Name of a channel.')

const maxPage = 500

/** Of every list. The largest page is a setting, so the router checks it. */
export const pageFields = {
  limit: z
    .string()
    .meta({ type: 'integer', minimum: 1, maximum: maxPage })
    .optional()
    .meta({ description: 'Items of a page.', flag: 'N' }),
  cursor: query.text('`next_cursor` of the page before.', 'CURSOR'),
}

const orders = ['asc', 'desc'] as const

/** Of lists that the server sorts, over all rows. A cursor is for the order that it came from. */
export const sortFields = <const T extends readonly string[]>(by: T, first: 'asc' | 'desc') => ({
  sort: query.choice(by, `What the list is sorted by; default \`${by[0]}\`.`),
  order: query.choice(orders, `Default \`${first}\`.`),
})

export const spanFields = {
  from: query.time('From this moment on.'),
  to: query.time('Before this moment.'),
}

export const tokenUsage = z.object({
  input_tokens: count(),
  output_tokens: count(),
  cache_read_tokens: count(),
  cache_write_tokens: count(),
  cache_write_1h_tokens: count()
    .exactOptional()
    .describe('Those of the written ones that are kept for an hour; absent: none.'),
  input_audio_tokens: count().exactOptional().describe('Those of the input; absent: none.'),
  input_image_tokens: count().exactOptional(),
  output_audio_tokens: count().exactOptional().describe('Those of the output; absent: none.'),
  output_image_tokens: count().exactOptional(),
  unit: z.string().exactOptional().describe('What it is charged by, if not by tokens.'),
  quantity: z.number().exactOptional().describe('Searches, characters or seconds.'),
})
