// What a bill is made of besides its sums: credits and adjustments one by one, where an account's
// months begin, the last receipt of a month, and the entries of a month in order of booking.
import { type Kysely, sql } from 'kysely'
import { floorOf, fromPending, sumMoney } from '../proof/hourly-totals.ts'
import { numberBefore } from '../proof/seals.ts'
import type { Schema } from '../schema.ts'
import { findEntriesBetween, type StoredEntry } from './entries.ts'

export interface Stretch {
  accountId: string
  fromMs: number
  untilMs: number
}

export interface Movement {
  id: number
  atMs: number
  kind: 'credit' | 'adjust'
  amountNanos: bigint
  note: string | null
}

/** Credits and adjustments, oldest first. */
export async function listMovements(
  db: Kysely<Schema>,
  { accountId, fromMs, untilMs }: Stretch,
  limit: number,
): Promise<Movement[]> {
  // The kinds stand in the text: that is how both engines know the index that has these only.
  const { rows } = await sql<{
    id: number
    at_ms: number
    kind: 'credit' | 'adjust'
    amount_nanos: bigint
    note: string | null
  }>`
    SELECT id, at_ms, kind, amount_nanos, note FROM entries
    WHERE kind IN ('credit', 'adjust') AND account_id = ${accountId}
      AND at_ms >= ${fromMs} AND at_ms < ${untilMs}
    ORDER BY at_ms, id LIMIT ${limit}`.execute(db)
  return rows.map(({ at_ms, amount_nanos, ...row }) => ({
    ...row,
    atMs: at_ms,
    amountNanos: amount_nanos,
  }))
}

/** When the first money of an account moved, or its hour; undefined where none has. */
export async function firstMoneyMs(
  db: Kysely<Schema>,
  accountId: string,
): Promise<number | undefined> {
  const { rows } = await sql<{ ms: number | null }>`
    SELECT min(ms) AS ms FROM (
      SELECT min(hour_ms) AS ms FROM hourly_totals WHERE account_id = ${accountId}
      UNION ALL
      SELECT min(e.at_ms) ${fromPending(await floorOf(db))} AND e.account_id = ${accountId}
    ) AS both_of_them`.execute(db)
  return rows[0]?.ms ?? undefined
}

/** Of the last receipt that is of a time before this one, a whole hour; 0 where there is none. */
export async function lastNumberBefore(
  db: Kysely<Schema>,
  accountId: string,
  untilMs: number,
): Promise<number> {
  const [sum] = await sumMoney(db, { accountId, fromMs: 0, untilMs, by: [] })
  const sealed = await numberBefore(db, accountId, untilMs)
  // All receipts up to the seal are of before; how many more there are says where the last one is.
  const beyond = (sum?.entries ?? 0) - sealed
  if (beyond <= 0) return sealed
  const later = db
    .selectFrom('receipts')
    .innerJoin('entries', 'entries.id', 'receipts.entry_id')
    .select('receipts.number')
    .where('receipts.account_id', '=', accountId)
    .where('receipts.number', '>', sealed)
    .where('entries.at_ms', '<', untilMs)
    .limit(1)
  const row =
    (await later
      .orderBy('receipts.number')
      .offset(beyond - 1)
      .executeTakeFirst()) ??
    // Fewer than were counted: the rest has no receipt yet.
    (await later.orderBy('receipts.number', 'desc').executeTakeFirst())
  return row?.number ?? sealed
}

/** Entries of an account before a time that have no receipt yet. */
export async function countPending(
  db: Kysely<Schema>,
  accountId: string,
  untilMs: number,
): Promise<number> {
  const { rows } = await sql<{ entries: number }>`
    SELECT count(*) AS entries ${fromPending(await floorOf(db))}
      AND e.account_id = ${accountId} AND e.at_ms < ${untilMs}`.execute(db)
  return rows[0]!.entries
}

const rowsAtOnce = 1_000

/** All of them, a bounded number in memory. */
export async function* entriesOf(
  db: Kysely<Schema>,
  stretch: Stretch,
): AsyncGenerator<readonly StoredEntry[]> {
  let afterId = 0
  for (;;) {
    const page = await findEntriesBetween(db, stretch, { afterId, limit: rowsAtOnce })
    if (page.length > 0) yield page
    if (page.length < rowsAtOnce) return
    afterId = page.at(-1)!.id
  }
}
