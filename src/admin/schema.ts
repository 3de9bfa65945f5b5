// The words that schemas of the admin API are written in. A schema types the view, describes it in
// the document, and tells the command line which columns a list has. Files whose name ends in
// `schema.ts` import nothing but each other, the contract and zod: the console reads types from them.
import { z } from 'zod'
import type { Source } from '../contract/catalog.ts'

/** Marks on a field. */
export interface Marks {
  /** Columns of the command line: title, and where the value lies when not in the field itself. */
  column?: readonly Column[]
  /** Members are not sent it. */
  staffOnly?: true
  /** How a flag of the command line names the value; the text in help comes from the description. */
  flag?: string
}

export interface Column {
  title?: string
  /** `code`: of a field that is an object, the value of this name. */
  part?: string
}

/** Shows the field in lists of the command line. */
export const column = <T extends z.ZodType>(schema: T, ...columns: (Column | string)[]): T =>
  schema.meta({
    column:
      columns.length === 0
        ? [{}]
        : columns.map((each) => (typeof each === 'string' ? { title: each } : each)),
  } satisfies Marks)

export const staffOnly = <T extends z.ZodType>(schema: T, description = ''): T =>
  schema.meta({ staffOnly: true, description: `${description} Not for members.`.trim() })

export const time = () => z.string().meta({ format: 'date-time' })

/** A decimal in quotes: no number of JSON is exact enough for money. */
export const money = () => z.string().meta({ pattern: '^-?\\d{1,12}\\.\\d{2,9}$' })

export const count = () => z.int().min(0)

export const share = () => z.number().min(0)

const sources = ['builtin', 'file', 'api'] as const satisfies readonly Source[]
export const source = z
  .enum(sources)
  .describe('Who declared it: the gateway, gateway.yaml or this API.')

export const pageOf = <T extends z.ZodType>(item: T, id: string) =>
  z
    .object({
      items: z.array(item),
      next_cursor: z
        .string()
        .nullable()
        .describe('For the next page, as `cursor`; null when there is none.'),
    })
    .meta({ id })

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

export const spanFields = {
  from: query.time('From this moment on.'),
  to: query.time('Before this moment.'),
}
