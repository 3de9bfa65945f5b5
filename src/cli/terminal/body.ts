// The body of a call from the flags of a command. Both come from the schema of the admin API: a flag for
// each field, and for each field of an object inside it.
import { z } from 'zod'
import { innerOf, summaryOf } from './columns.ts'
import type { Flags } from './command.ts'
import type { Line } from './line.ts'
import { nearest } from './nearest.ts'
import { type Row, rowOf } from './show.ts'
import { misuse } from './stop.ts'

export interface Input {
  schema: z.ZodObject
  /** Fields that the command does not take, or takes in another way. */
  without?: readonly string[]
  /** Lists and objects with a flag for each item or `NAME=VALUE`: the flag and its placeholder. */
  repeated?: Readonly<Record<string, readonly [flag: string, value: string]>>
  /** Flags that are not named as their fields: those of every command have these names. */
  flags?: Readonly<Record<string, string>>
  /** Placeholders that the schema does not tell. */
  values?: Readonly<Record<string, string>>
}

const fieldsOf = ({ schema, without = [] }: Input): [string, z.ZodType][] =>
  Object.entries(schema.shape as Readonly<Record<string, z.ZodType>>).filter(
    ([name]) => !without.includes(name),
  )

const flagName = (field: string, { flags = {} }: Pick<Input, 'flags'>): string =>
  flags[field] ?? field.replaceAll('_', '-')
const isTime = (schema: z.ZodType): boolean =>
  (schema as z.ZodType & { format?: string }).format === 'datetime'
const isWhole = (schema: z.ZodType): boolean =>
  (schema as z.ZodType & { isInt?: boolean }).isInt === true

export function inputFlags(input: Input): Flags {
  const { repeated = {}, values = {} } = input
  return Object.fromEntries(
    fieldsOf(input).flatMap(([field, schema]) => {
      const inner = innerOf(schema)
      const required = !schema.isOptional() && { required: true as const }
      const summary = summaryOf(schema.description ?? inner.description)
      const many = repeated[field]
      if (many !== undefined) {
        const [flag, value] = many
        return [[flag, { value, many: true, summary, ...required }]]
      }
      if (inner instanceof z.ZodObject) return Object.entries(inputFlags({ schema: inner }))
      const value = values[field] ?? placeholder(field, inner)
      return [[flagName(field, input), { value, summary, ...required }]]
    }),
  )
}

function placeholder(field: string, schema: z.ZodType): string {
  if (schema instanceof z.ZodEnum) return schema.options.join('|')
  if (schema instanceof z.ZodBoolean) return 'true|false'
  if (schema instanceof z.ZodNumber) return 'N'
  if (schema instanceof z.ZodArray) return 'A,B'
  return isTime(schema) ? 'TIME' : field.toUpperCase()
}

/** Fields whose flag was not given are left out. */
export function inputOf(input: Input, line: Line): Row {
  const { repeated = {} } = input
  const given = fieldsOf(input).map(([field, schema]): [string, unknown] => {
    const inner = innerOf(schema)
    const many = repeated[field]
    if (many !== undefined) return [field, readMany(line, inner, many)]
    if (!(inner instanceof z.ZodObject))
      return [field, readOne(line, flagName(field, input), inner)]
    const parts = inputOf({ schema: inner }, line)
    return [field, Object.keys(parts).length === 0 ? undefined : parts]
  })
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

function readOne(line: Line, flag: string, schema: z.ZodType): unknown {
  if (schema instanceof z.ZodBoolean) return line.yesNo(flag)
  if (schema instanceof z.ZodNumber) return isWhole(schema) ? line.integer(flag) : line.number(flag)
  if (schema instanceof z.ZodArray) return line.list(flag)
  return isTime(schema) ? line.time(flag) : line.text(flag)
}

function readMany(line: Line, schema: z.ZodType, [flag, form]: readonly [string, string]): unknown {
  if (schema instanceof z.ZodArray) {
    const texts = line.texts(flag)
    return texts.length === 0 ? undefined : texts
  }
  const pairs = line.pairs(flag, form)
  if (!(schema instanceof z.ZodObject)) return pairs
  const known = Object.keys(schema.shape)
  const unknown = Object.keys(rowOf(pairs)).find((name) => !known.includes(name))
  if (unknown === undefined) return pairs
  const meant = nearest(unknown, known)
  const hint = meant === undefined ? `known: ${known.join(', ')}` : `did you mean '${meant}'?`
  throw misuse(`unknown ${flag} '${unknown}'; ${hint}`)
}
