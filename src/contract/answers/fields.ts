// Fields of answers that every interface of the gateway's own writes alike, as zod schemas: they type
// the views, and documents are made from them. No answer is checked with them at run time.
import { z } from 'zod'

/** Marks on a field. */
export interface Marks {
  /** Columns of the command line: title, and where the value lies when not in the field itself. */
  column?: readonly Column[]
  /** Members are not sent it. */
  staffOnly?: true
  /** Which names the value, or the fields of the object, can be: the document lists them. */
  names?: 'interfaces' | 'protocols'
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

export const time = () => z.string().meta({ format: 'date-time' })

/** A decimal in quotes: no number of JSON is exact enough for money. */
export const money = () => z.string().meta({ pattern: '^-?\\d{1,12}\\.\\d{2,9}$' })

export const count = () => z.int().min(0)

/** A number that is not negative. */
export const amount = () => z.number().min(0)

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
