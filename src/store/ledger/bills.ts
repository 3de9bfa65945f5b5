// What a bill contains besides its sums: individual credits, adjustments and refunds, the start of an
// account's months, the last receipt of a month, and its entries in booking order.
import { type Kysely, sql } from 'kysely'
import { numberBefore } from '../proof/seals.ts'
import { sumMoney } from '../proof/totals.ts'
import { bothOf, inEntry } from '../rows/ledger-rows.ts'
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
  kind: 'credit' | 'adjust' | 'refund'
  amountNanos: bigint
  note: string | null
  refundOf: string | null
}

/** Credits, adjustments and refunds, oldest first. */
export async function listMovements(
  db: Kysely<Schema>,
  { accountId, fromMs, untilMs }: Stretch,
  limit: number,
): Promise<Movement[]> {
  // The kinds are literals: only then do both dialects use the partial index on them.
  const { rows } = await sql<{
    id: number
    at_ms: number
    kind: Movement['kind']
    amount_nanos: bigint
    note: string | null
    refund_of: string | null
  }>`
    SELECT e.id, e.at_ms, ${sql.raw(inEntry('kind'))} AS kind, e.amount_nanos, e.note, e.refund_of
    FROM entries e WHERE e.kind IN ('credit', 'adjust') AND e.account_id = ${accountId}
      AND e.at_ms >= ${fromMs} AND e.at_ms < ${untilMs}
    ORDER BY e.at_ms, e.id LIMIT ${limit}`.execute(db)
  return rows.map(({ at_ms, amount_nanos, refund_of, ...row }) => ({
    ...row,
    atMs: at_ms,
    amountNanos: amount_nanos,
    refundOf: refund_of,
  }))
}

/** The hour of an account's first money movement; undefined where there is none. */
export async function firstMoneyMs(
  db: Kysely<Schema>,
  accountId: string,
): Promise<number | undefined> {
  const { rows } = await sql<{ ms: number | null }>`
    SELECT min(hour_ms) AS ms FROM hourly_totals WHERE account_id = ${accountId}`.execute(db)
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
  const { rows } = await sql<{ number: number }>`${bothOf(
    sql`SELECT c.number FROM receipts c JOIN entries e ON e.id = c.entry_id
      WHERE c.account_id = ${accountId} AND c.number > ${sealed} AND e.at_ms < ${untilMs}
      ORDER BY c.number LIMIT ${beyond}`,
    sql`SELECT r.number FROM requests r WHERE r.account_id = ${accountId}
      AND r.number > ${sealed} AND r.booked_at_ms < ${untilMs} ORDER BY r.number LIMIT ${beyond}`,
  )} ORDER BY number LIMIT 1 OFFSET ${beyond - 1}`.execute(db)
  return rows[0]?.number ?? sealed
}

const rowsAtOnce = 1_000

/** Yields all of them, a bounded number in memory. */
export async function* entriesOf(
  db: Kysely<Schema>,
  stretch: Stretch,
): AsyncGenerator<readonly StoredEntry[]> {
  let afterNumber = 0
  for (;;) {
    const page = await findEntriesBetween(db, stretch, { afterNumber, limit: rowsAtOnce })
    if (page.length > 0) yield page
    if (page.length < rowsAtOnce) return
    afterNumber = page.at(-1)!.number
  }
}
