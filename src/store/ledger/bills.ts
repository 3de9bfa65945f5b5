// What a bill contains besides its sums: individual credits and adjustments, the start of an
// account's months, the last receipt of a month, and its entries in booking order.
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

interface Movement {
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
  // The kinds are literals: only then do both dialects use the partial index on them.
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

/** Time of an account's first money movement, or its hour; undefined where there is none. */
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

/** Number of the last receipt before this time, a whole hour; 0 where there is none. */
export async function lastNumberBefore(
  db: Kysely<Schema>,
  accountId: string,
  untilMs: number,
): Promise<number> {
  const [sum] = await sumMoney(db, { accountId, fromMs: 0, untilMs, by: [] })
  const sealed = await numberBefore(db, accountId, untilMs)
  // All receipts up to the seal are earlier; the count of further ones locates the last.
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
    // Fewer than counted: the rest has no receipt yet.
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

/** Yields all of them, a bounded number in memory. */
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
