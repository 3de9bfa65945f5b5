// Bulk insert in few statements. The statements have few lengths, so that prepared statements are
// reused, and no query builder inspects each value.
import { CompiledQuery, type Kysely } from 'kysely'
import type { Dialect, Schema } from '../schema.ts'

/** Both dialects accept more, without a gain. */
const maxParameters = 2_048

export interface BulkInsert {
  table: keyof Schema
  columns: readonly string[]
  /** `columns.length` values per row, concatenated. */
  values: readonly unknown[]
  /** What follows the values, such as ON CONFLICT. */
  ending?: string
}

export async function insertRows(
  tx: Kysely<Schema>,
  dialect: Dialect,
  { table, columns, values, ending = '' }: BulkInsert,
): Promise<void> {
  const width = columns.length
  const into = `INSERT INTO ${table} (${columns.join(', ')}) VALUES`
  let size = 2 ** Math.floor(Math.log2(maxParameters / width))
  for (let at = 0; at < values.length; ) {
    const rows = (values.length - at) / width
    while (size > rows) size /= 2
    const text = `${into} ${placeholders(dialect, size, width)} ${ending}`
    const parameters = values.slice(at, at + size * width)
    // Passed this way because `raw` would freeze them, which costs more than sending.
    await tx.executeQuery({ ...CompiledQuery.raw(text), parameters })
    at += size * width
  }
}

const known = new Map<string, string>()

function placeholders(dialect: Dialect, rows: number, width: number): string {
  const name = `${dialect} ${rows} ${width}`
  let text = known.get(name)
  if (text === undefined) {
    const cell = (at: number) => (dialect === 'sqlite' ? '?' : `$${at + 1}`)
    const row = (at: number) => Array.from({ length: width }, (_, i) => cell(at * width + i))
    text = Array.from({ length: rows }, (_, i) => `(${row(i).join(',')})`).join(',')
    known.set(name, text)
  }
  return text
}
