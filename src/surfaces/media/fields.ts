// Fields of media requests as zod schemas. Each has the one sentence that a wrong value is refused with;
// the parser and the document come from the same schema. Null counts as absent everywhere.
import { z } from 'zod'
import { type Refusal, type RefusalCode, refuse } from '../../contract/errors.ts'
import { orNull, type Schema } from '../../http/schema.ts'
import { schemaOf } from '../../http/zod-schema.ts'
import type { Fields } from '../common/fields.ts'
import { isLongerThan } from './images.ts'

export const whole = (name: string, min: number, max: number) => {
  const message = `'${name}' must be a whole number from ${min} to ${max}`
  return z.int(message).min(min, message).max(max, message)
}

const maxSeed = 2_147_483_647
export const seed = (name = 'seed') => whole(name, 0, maxSeed).describe('For repeatable results.')

/** Counted in characters, not UTF-16 units. */
export const text = (name: string, max: number, problem = `has more than ${max} characters`) =>
  z
    .string(`'${name}' must be a string`)
    .refine((given) => !isLongerThan(given, max), { error: `'${name}' ${problem}`, abort: true })
    .meta({ maxLength: max })

export const oneOf = <const Words extends readonly [string, ...string[]]>(
  name: string,
  words: Words,
  message = `'${name}' must be ${words.map((word) => `'${word}'`).join(' or ')}`,
) => z.enum(words, message)

/** Digits of a form, or of a caller that sends numbers as text. */
export const asNumber = (value: unknown, maxDigits = 10): unknown =>
  typeof value === 'string' && /^\d+$/.test(value) && value.length <= maxDigits
    ? Number(value)
    : value

/** Codes by field; others are `invalid_request`. */
type Codes = Readonly<Record<string, RefusalCode>>

/** An issue with a refusal code of its own. */
export const refusing = (refusal: RefusalCode, message: string, input?: unknown) =>
  ({ code: 'custom', message, params: { refusal }, input }) as const

/**
 * The first problem, in the order of the schema, as a refusal that names the field. `{at}` in its sentence stands
 * for the place: `field`, or `field[2]` for an item of a list.
 */
export function readFields<Schema extends z.ZodType>(
  schema: Schema,
  fields: Fields,
  codes: Codes = {},
  under = '',
): z.output<Schema> | Refusal {
  const given = Object.entries(fields).filter(([, value]) => value !== null)
  const read = schema.safeParse(Object.fromEntries(given))
  if (read.success) return read.data
  const issue = read.error.issues[0]!
  const [field = '', item] = issue.path.map(String)
  const own = issue.code === 'custom' ? (issue.params?.['refusal'] as RefusalCode) : undefined
  const at = item === undefined ? field : `${field}[${item}]`
  const code = own ?? codes[field] ?? 'invalid_request'
  return refuse(code, issue.message.replace('{at}', at), { param: `${under}${field}` })
}

/** For `object()` of a document: an optional field may also be null. */
export function documented(schema: z.ZodObject): Readonly<Record<string, Schema>> {
  const { properties, required = [] } = schemaOf(schema) as {
    properties: Readonly<Record<string, Schema>>
    required?: readonly string[]
  }
  const fields = Object.entries(properties).map(([name, field]) =>
    required.includes(name) ? [name, field] : [`${name}?`, nullable(field)],
  )
  return Object.fromEntries(fields)
}

const nullable = (field: Schema): Schema =>
  'const' in field ? { anyOf: [field, { type: 'null' }] } : orNull(field)
