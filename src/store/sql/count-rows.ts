// How many rows a list has, as far as that is quickly told.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'

const counted = { tasks: 'tasks', ledger: 'entries', audit_log: 'audit_log' } as const

/** How many rows have these values; undefined when they are more than is worth counting. */
export async function countRows(
  db: Kysely<Schema>,
  of: keyof typeof counted,
  values: Readonly<Record<string, string | undefined>>,
  most: number,
): Promise<number | undefined> {
  const wanted = Object.entries(values).flatMap(([column, value]) =>
    value === undefined ? [] : [sql`AND ${sql.ref(column)} = ${value}`],
  )
  const { rows } = await sql<{ n: number }>`
    SELECT count(*) AS n FROM (
      SELECT 1 AS one FROM ${sql.table(counted[of])}
      WHERE 1 = 1 ${sql.join(wanted, sql` `)} LIMIT ${most + 1}
    ) AS some_of_them`.execute(db)
  return rows[0]!.n > most ? undefined : rows[0]!.n
}
