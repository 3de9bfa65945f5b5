// Tables and flags of the command line, read from the schemas of the admin API: a column for each
// field that the schema marks, a flag for each field of a query.
import type { z } from 'zod'
import type { Column as ColumnMark, Marks } from '../../contract/answers/fields.ts'
import type { Flags } from './command.ts'
import type { Line } from './line.ts'
import { type Column, cell, moneyColumn, type Row, rowOf } from './show.ts'

const marksOf = (schema: z.ZodType): Marks & { pattern?: string } =>
  (schema.meta() ?? {}) as Marks & { pattern?: string }

/** What lies inside of `optional` and `nullable`. */
export function innerOf(schema: z.ZodType): z.ZodType {
  const { innerType } = schema.def as { innerType?: z.ZodType }
  return innerType === undefined ? schema : innerOf(innerType)
}

/** Values that are made of more than one field, by title. */
type Own = Readonly<Record<string, (row: Row) => string>>

export function columnsOf(item: z.ZodObject, own: Own = {}): Column[] {
  return Object.entries(item.shape as Readonly<Record<string, z.ZodType>>).flatMap(
    ([field, schema]) =>
      (marksOf(schema).column ?? []).map((mark) => columnOf(field, innerOf(schema), mark, own)),
  )
}

function columnOf(
  field: string,
  inner: z.ZodType,
  { title = field.replaceAll('_', ' '), part }: ColumnMark,
  own: Own,
): Column {
  const isMoney = marksOf(inner).pattern !== undefined
  const isNumber = inner.def.type === 'number' || part?.endsWith('_tokens') === true
  const value =
    own[title] ??
    (isMoney
      ? moneyColumn(field).value
      : (row: Row) => cell(part === undefined ? row[field] : rowOf(row[field])[part]))
  return { title, value, ...((isMoney || isNumber) && { right: true as const }) }
}

const pageNames = ['limit', 'cursor']
const flagName = (field: string): string => field.replaceAll('_', '-')

/** A flag for each filter of a list. */
export function flagsOf(query: z.ZodObject): Flags {
  const fields = Object.entries(query.shape as Readonly<Record<string, z.ZodType>>)
  return Object.fromEntries(
    fields
      .filter(([name]) => !pageNames.includes(name))
      .map(([name, schema]) => {
        const { flag } = marksOf(schema)
        const summary = summaryOf(schema.description)
        return [flagName(name), { summary, ...(flag !== undefined && { value: flag }) }]
      }),
  )
}

/** 'Name of a model.' -> 'name of a model'; 'IP addresses' stay as they are. */
export const summaryOf = (description = ''): string =>
  description
    .replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase())
    .replaceAll('`', '')
    .replace(/\.$/, '')

/** A filter without a value is a switch. */
function givenValue(line: Line, flag: string, value: string | undefined): string | undefined {
  if (value === undefined) return line.on(flag) ? 'true' : undefined
  return value === 'TIME' ? line.time(flag) : line.text(flag)
}

/** The filters that were given, as the query of the call. */
export const filtersOf = (
  query: z.ZodObject,
  line: Line,
): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    Object.entries(flagsOf(query)).map(([flag, { value }]) => [
      flag.replaceAll('-', '_'),
      givenValue(line, flag, value),
    ]),
  )
