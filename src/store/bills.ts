// What the ledger says of one account and one stretch of time: sums by model and unit, and the
// entries behind them in order of booking.
import { type Kysely, sql } from 'kysely'
import type { EntryKind } from '../contract/ledger.ts'
import { findEntriesBetween, type StoredEntry } from './entries.ts'
import type { Schema } from './schema.ts'

export interface Stretch {
  accountId: string
  fromMs: number
  untilMs: number
}

export interface BillSum {
  kind: EntryKind
  model: string | null
  unit: string | null
  entries: number
  quantity: number
  amountNanos: bigint
}

/** Without holds and releases: they are not money that moved. */
export async function sumStretch(db: Kysely<Schema>, stretch: Stretch): Promise<BillSum[]> {
  const { accountId, fromMs, untilMs } = stretch
  const { rows } = await sql<{
    kind: EntryKind
    model: string | null
    unit: string | null
    entries: number
    quantity: number
    amount_nanos: bigint
  }>`
    SELECT kind, model, unit, count(*) AS entries,
      coalesce(sum(quantity), 0) AS quantity,
      CAST(sum(amount_nanos) AS bigint) AS amount_nanos
    FROM entries
    WHERE account_id = ${accountId} AND at_ms >= ${fromMs} AND at_ms < ${untilMs}
      AND kind NOT IN ('hold', 'release')
    GROUP BY kind, model, unit ORDER BY kind, model, unit`.execute(db)
  return rows.map(({ amount_nanos, ...row }) => ({ ...row, amountNanos: amount_nanos }))
}

/** The balance at a moment: whatever moved before it. */
export async function balanceBefore(
  db: Kysely<Schema>,
  accountId: string,
  ms: number,
): Promise<bigint> {
  const { rows } = await sql<{ amount_nanos: bigint }>`
    SELECT CAST(coalesce(sum(amount_nanos), 0) AS bigint) AS amount_nanos FROM entries
    WHERE account_id = ${accountId} AND at_ms < ${ms} AND kind NOT IN ('hold', 'release')`.execute(
    db,
  )
  return rows[0]!.amount_nanos
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
