// Bulk insert on PostgreSQL, column by column: the server then reads a few arrays instead of
// thousands of parameters. SQLite gets the rows as they are.
import { CompiledQuery, type Kysely } from 'kysely'
import type { Dialect, Schema } from '../schema.ts'
import { type BulkInsert, insertRows } from './bulk.ts'

/** Integers and texts only, none of them null. */
export async function insertColumns(
  tx: Kysely<Schema>,
  dialect: Dialect,
  bulk: BulkInsert,
): Promise<void> {
  const { table, columns, values, ending = '' } = bulk
  if (values.length === 0) return
  if (dialect === 'sqlite') return insertRows(tx, dialect, bulk)
  const width = columns.length
  const lists: unknown[][] = columns.map(() => [])
  for (let at = 0; at < values.length; at++) lists[at % width]!.push(values[at])
  const typed = columns.map((_, i) => {
    const type = typeof values[i] === 'string' ? 'text' : 'bigint'
    return `$${i + 1}::${type}[]`
  })
  const text =
    `INSERT INTO ${table} (${columns.join(', ')}) ` +
    `SELECT * FROM unnest(${typed.join(', ')}) ${ending}`
  await tx.executeQuery({ ...CompiledQuery.raw(text), parameters: lists })
}
