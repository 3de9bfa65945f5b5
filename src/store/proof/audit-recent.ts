// Queries of the auditor, run every minute: the ledger's progress, which accounts moved, and
// whether each of those adds up, without reading all of its entries again.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import { getMeta } from '../sql/meta.ts'
import { type BooksOf, type CreditLeasesRow, creditLeasesOf, joined, safeSum } from './audit.ts'
import type { Stretch } from './audit-chain.ts'
import { floorOf } from './hourly-totals.ts'

type Db = Kysely<Schema>

/** Progress of the ledger. */
export interface BooksEnd {
  entryId: number
  /** Every entry up to this one has its receipt, and no entry can appear below it. */
  floor: number
  seq: number
}

export async function readBooksEnd(db: Db): Promise<BooksEnd> {
  const { rows } = await sql<{ entry_id: number | null; seq: number | null }>`
    SELECT (SELECT max(id) FROM entries) AS entry_id, (SELECT max(seq) FROM requests) AS seq`.execute(
    db,
  )
  return { entryId: rows[0]?.entry_id ?? 0, seq: rows[0]?.seq ?? 0, floor: await floorOf(db) }
}

type Range = { afterEntryId: number; untilEntryId: number }

/** Accounts with an entry in the range. */
export async function movedAccounts(db: Db, range: Range): Promise<string[]> {
  const { rows } = await sql<{ account_id: string }>`
    SELECT DISTINCT account_id FROM entries
    WHERE id > ${range.afterEntryId} AND id <= ${range.untilEntryId}`.execute(db)
  return rows.map(({ account_id }) => account_id)
}

/** The part of each account's chain that belongs to entries of the range. */
export async function newStretches(db: Db, range: Range): Promise<Stretch[]> {
  const { rows } = await sql<{ account_id: string; first: number; last: number }>`
    SELECT account_id, min(number) AS first, max(number) AS last FROM receipts
    WHERE entry_id > ${range.afterEntryId} AND entry_id <= ${range.untilEntryId}
    GROUP BY account_id ORDER BY account_id`.execute(db)
  return rows.map((row) => ({ accountId: row.account_id, first: row.first, last: row.last }))
}

export async function findReceipt(db: Db, accountId: string, number: number) {
  const row = await db
    .selectFrom('receipts')
    .select(['balance_nanos', 'hash'])
    .where('account_id', '=', accountId)
    .where('number', '=', number)
    .executeTakeFirst()
  return row && { number, balanceNanos: row.balance_nanos, hash: row.hash }
}

export async function nextAccounts(db: Db, after: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('accounts')
    .select('id')
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

/** Holds of live tasks, by account. */
export async function liveHolds(db: Db): Promise<Map<string, bigint>> {
  const { rows } = await sql<{
    account_id: string
    held_whole_nanos: bigint
    held_rest_nanos: bigint
  }>`
    SELECT account_id, ${safeSum('hold_nanos', 'held')} FROM tasks
    WHERE state IN ('accepted', 'unknown', 'queued', 'running') GROUP BY account_id`.execute(db)
  return new Map(
    rows.map((row) => [row.account_id, joined(row.held_whole_nanos, row.held_rest_nanos)]),
  )
}

interface RecentRow extends CreditLeasesRow {
  id: string
  name: string
  balance_nanos: bigint
  held_nanos: bigint
  leased_nanos: bigint
  proven_nanos: bigint | null
  new_whole_nanos: bigint
  new_rest_nanos: bigint
  entries: number
}

/** As a full audit would sum them, from the last receipt and the entries after it. */
export async function recentBalances(
  db: Db,
  accountIds: readonly string[],
  { floor, held }: { floor: number; held: ReadonlyMap<string, bigint> },
): Promise<BooksOf[]> {
  if (accountIds.length === 0) return []
  const { rows } = await sql<RecentRow>`
    SELECT a.id, a.name, a.balance_nanos, a.held_nanos, a.leased_nanos,
      ${creditLeasesOf},
      (SELECT c.balance_nanos FROM receipts c WHERE c.account_id = a.id
        ORDER BY c.number DESC LIMIT 1) AS proven_nanos,
      ${safeSum('e.amount_nanos', 'new')}, count(e.id) AS entries
    FROM accounts a LEFT JOIN entries e ON e.account_id = a.id AND e.id > ${floor}
      AND e.kind NOT IN ('hold', 'release')
      AND NOT EXISTS (SELECT 1 FROM receipts x WHERE x.entry_id = e.id)
    WHERE a.id IN (${sql.join([...accountIds])})
    GROUP BY a.id, a.name, a.balance_nanos, a.held_nanos, a.leased_nanos`.execute(db)
  return rows.map((row) => ({
    accountId: row.id,
    name: row.name,
    entries: row.entries,
    balanceNanos: row.balance_nanos,
    heldNanos: row.held_nanos,
    leasedNanos: row.leased_nanos,
    creditLeasesNanos: joined(row.leases_whole_nanos, row.leases_rest_nanos),
    entriesBalanceNanos: (row.proven_nanos ?? 0n) + joined(row.new_whole_nanos, row.new_rest_nanos),
    entriesHeldNanos: held.get(row.id) ?? 0n,
  }))
}

/** Time since which this database has been in use without a pause. */
export const openedAtMs = async (db: Db): Promise<number> =>
  Number((await getMeta(db, 'opened_at_ms')) ?? '0')

const lockKey = 'audit_turn'

/** True for one caller per interval. */
export async function takeAuditLock(
  tx: Db,
  { nowMs, everyMs }: { nowMs: number; everyMs: number },
): Promise<boolean> {
  const { rows } = await sql`
    INSERT INTO meta (key, value) VALUES (${lockKey}, ${String(nowMs)})
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
    WHERE CAST(meta.value AS bigint) NOT BETWEEN ${Math.floor(nowMs - everyMs) + 1} AND ${Math.floor(nowMs + everyMs)}
    RETURNING key`.execute(tx)
  return rows.length > 0
}
