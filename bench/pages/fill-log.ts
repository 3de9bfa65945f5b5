// A filled log as a gateway in use has it: indexed, balances that match the entries,
// tables analysed. Refuses to know what is measured.

import { sql } from 'kysely'
import type { Store } from '../../src/store/index.ts'
import { note } from '../lib/part.ts'
import { type Filling, fill, indexAll } from './fill.ts'

/** As many as 10 million rows are over 60 days. */
const rowsPerDay = 10_000_000 / 60

/** A tenth as many tasks as rows, and half as many entries. */
export const fillingOf = (rows: number): Filling => ({
  rows,
  tasks: Math.ceil(rows / 10),
  entries: Math.ceil(rows / 2),
  days: Math.max(1, rows / rowsPerDay),
  untilMs: Date.now(),
})

export async function fillLog(store: Store, rows: number): Promise<void> {
  await fill(store, fillingOf(rows), note)
  await indexAll(store, note)
  await store.tx((db) =>
    sql`UPDATE accounts SET balance_nanos = coalesce((SELECT sum(amount_nanos) FROM entries
      WHERE account_id = accounts.id AND kind NOT IN ('hold', 'release')), 0)`.execute(db),
  )
  await tidy(store)
}

/** The state of a database in use: tables analysed. */
export async function tidy({ dialect, read }: Store): Promise<void> {
  if (dialect !== 'postgres') return
  await read.connection().execute(async (db) => {
    // The server may be doing the same by itself.
    await sql`SET lock_timeout = 0`.execute(db)
    await sql`VACUUM ANALYZE`.execute(db)
    await sql`RESET lock_timeout`.execute(db)
  })
}
