// Row counts of lists, as far as they are cheap.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'

const counted = { tasks: 'tasks', ledger: 'entries', audit_log: 'audit_log' } as const

/** Number of rows with these values; undefined above the counting limit. */
export async function countRows(
  db: Kysely<Schema>,
  of: keyof typeof counted,
  values: Readonly<Record<string, string | undefined>>,
  max: number,
): Promise<number | undefined> {
  const wanted = Object.entries(values).flatMap(([column, value]) =>
    value === undefined ? [] : [sql`AND ${sql.ref(column)} = ${value}`],
  )
  const { rows } = await sql<{ n: number }>`
    SELECT count(*) AS n FROM (
      SELECT 1 AS one FROM ${sql.table(counted[of])}
      WHERE 1 = 1 ${sql.join(wanted, sql` `)} LIMIT ${max + 1}
    ) AS some_of_them`.execute(db)
  return rows[0]!.n > max ? undefined : rows[0]!.n
}
