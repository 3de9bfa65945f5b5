// Answers as text for a person: aligned tables and records. Tolerant of fields that are missing or
// of another type; never trusts text that came from outside to a terminal as it is.
import { isObject } from '../../lib/json/parse.ts'
import { paint, screen, toneOf } from '../screen/screen.ts'
import { type Heading, layTable } from '../screen/table.ts'

export type Row = Readonly<Record<string, unknown>>

export const rowOf = (value: unknown): Row => (isObject(value) ? value : {})

/** The rows of a list answer, or of a bare array. */
export function rowsOf(value: unknown): readonly Row[] {
  const items = isObject(value) ? value['items'] : value
  return Array.isArray(items) ? items.filter(isObject) : []
}

/** Callers choose names and prompts: an escape sequence in one must not reach the terminal. */
export const printable = (text: string): string =>
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '')

/** One value on one line: null -> '-', ['a', 'b'] -> 'a, b', { rpm: 60 } -> 'rpm 60'. */
export function cell(value: unknown): string {
  if (value === undefined || value === null || value === '') return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(cell).join(', ')
  if (isObject(value)) {
    const pairs = Object.entries(value).filter(([, part]) => part !== undefined && part !== null)
    return pairs.length === 0
      ? '-'
      : pairs.map(([k, part]) => `${line(k)} ${cell(part)}`).join(', ')
  }
  return line(String(value))
}

const line = (text: string) => printable(text).replace(/[\n\t]/g, ' ')

export const inCurrency = (value: unknown, row: Row): string =>
  typeof value === 'string' && typeof row['currency'] === 'string'
    ? `${cell(value)} ${cell(row['currency'])}`
    : cell(value)

export interface Column extends Heading {
  value(row: Row): string
}

/** 'balance' -> a column of that title and field. */
export const column = (field: string, title: string = field.replaceAll('_', ' ')): Column => ({
  title,
  value: (row) => cell(row[field]),
})

export const numberColumn = (field: string, title?: string): Column => ({
  ...column(field, title),
  right: true,
})

export const moneyColumn = (field: string, title: string = field): Column => ({
  title,
  right: true,
  value: (row) => inCurrency(row[field], row),
})

export const table = (rows: readonly Row[], columns: readonly Column[]): string =>
  layTable(
    columns,
    rows.map((row) => columns.map((each) => each.value(row))),
    screen(),
  )

const moneyFields = ['balance', 'held', 'available', 'charge', 'amount']

/** Field per line; the currency goes behind the amounts instead of on a line of its own. */
export function record(row: Row, hidden: readonly string[] = []): string {
  const hasMoney = moneyFields.some((field) => row[field] !== undefined)
  const pairs = Object.entries(row)
    .filter(([field]) => !hidden.includes(field) && !(hasMoney && field === 'currency'))
    .map(([field, value]): [string, string] => [
      line(field).replaceAll('_', ' '),
      moneyFields.includes(field) ? inCurrency(value, row) : cell(value),
    ])
  const width = Math.max(0, ...pairs.map(([field]) => Bun.stringWidth(field)))
  return pairs
    .map(([field, value]) => {
      const space = ' '.repeat(width - Bun.stringWidth(field))
      const tone = field === 'state' || field === 'status' ? toneOf(value) : undefined
      return `${paint(field, 'dim')}${space}  ${paint(value, tone)}`
    })
    .join('\n')
}
