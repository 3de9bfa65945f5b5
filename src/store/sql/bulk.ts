// Many rows in few statements. The statements have few lengths, so that an engine that keeps what it
// has prepared keeps these too, and no builder looks at each value.
import { CompiledQuery, type Kysely } from 'kysely'
import type { Dialect, Schema } from '../schema.ts'

/** Both engines take more; past this nothing is gained. */
const maxParameters = 2_048

export interface BulkInsert {
  table: keyof Schema
  columns: readonly string[]
  /** Of `columns.length` each, laid end to end. */
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
    // Handed over like this: given to `raw`, they would be frozen, which costs more than sending.
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
