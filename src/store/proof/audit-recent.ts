// Queries of the auditor, run every minute: the ledger's progress, which accounts moved, and
// whether each of those adds up, without reading all of its entries again.
import { type Kysely, sql } from 'kysely'
import { newestId } from '../rows/ledger-rows.ts'
import type { Schema } from '../schema.ts'
import { getMeta } from '../sql/meta.ts'
import {
  type AuditScope,
  type BooksOf,
  type CreditLeasesRow,
  creditLeasesOf,
  joined,
  type Mismatch,
  safeSum,
} from './audit.ts'
import type { Stretch } from './audit-chain.ts'

type Db = Kysely<Schema>

type Range = { afterId: number; untilId: number }

/** The newest entry or call. */
export async function readBooksEnd(db: Db): Promise<number> {
  const { rows } = await sql<{ id: number }>`SELECT ${newestId} AS id`.execute(db)
  return rows[0]!.id
}

/** Accounts with an entry in the range. */
export async function movedAccounts(db: Db, { afterId, untilId }: Range): Promise<string[]> {
  const { rows } = await sql<{ account_id: string }>`
    SELECT DISTINCT account_id FROM ledger WHERE id > ${afterId} AND id <= ${untilId}`.execute(db)
  return rows.map(({ account_id }) => account_id)
}

/** The part of each account's chain that belongs to entries of the range. */
export async function newStretches(db: Db, { afterId, untilId }: Range): Promise<Stretch[]> {
  const { rows } = await sql<{ account_id: string; first: number; last: number }>`
    SELECT account_id, min(number) AS first, max(number) AS last FROM ledger
    WHERE id > ${afterId} AND id <= ${untilId} AND number IS NOT NULL
    GROUP BY account_id ORDER BY account_id`.execute(db)
  return rows.map((row) => ({ accountId: row.account_id, first: row.first, last: row.last }))
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
}

/** As a full audit would sum them, from the last receipt. */
export async function recentBalances(
  db: Db,
  accountIds: readonly string[],
  held: ReadonlyMap<string, bigint>,
): Promise<Omit<BooksOf, 'entries'>[]> {
  if (accountIds.length === 0) return []
  const { rows } = await sql<RecentRow>`
    SELECT a.id, a.name, a.balance_nanos, a.held_nanos, a.leased_nanos, ${creditLeasesOf},
      coalesce(c.balance_nanos, r.balance_nanos) AS proven_nanos
    FROM accounts a ${lastReceipt} WHERE a.id IN (${sql.join([...accountIds])})`.execute(db)
  return rows.map((row) => ({
    accountId: row.id,
    name: row.name,
    balanceNanos: row.balance_nanos,
    heldNanos: row.held_nanos,
    leasedNanos: row.leased_nanos,
    creditLeasesNanos: joined(row.leases_whole_nanos, row.leases_rest_nanos),
    entriesBalanceNanos: row.proven_nanos ?? 0n,
    entriesHeldNanos: held.get(row.id) ?? 0n,
  }))
}

/** Accounts whose row does not name the end of their chain. */
export async function wrongEnds(
  db: Db,
  { accountId }: AuditScope,
  limit: number,
): Promise<Mismatch[]> {
  const which = accountId === undefined ? sql`` : sql`AND a.id = ${accountId}`
  const { rows } = await sql<{ id: string; last_number: number }>`
    SELECT a.id, a.last_number FROM accounts a ${lastReceipt}
    WHERE (a.last_hash <> coalesce(c.hash, r.hash, '')
      OR a.last_balance_nanos <> coalesce(c.balance_nanos, r.balance_nanos, 0)) ${which} ORDER BY a.id LIMIT ${limit}`.execute(
    db,
  )
  return rows.map(({ id, last_number: number }) => ({
    accountId: id,
    number,
    problem: `receipt ${number} is not the end of the chain that the account names`,
  }))
}

/** Of the account `a`: a receipt `c` or a charged call `r`. */
const lastReceipt = sql`
  LEFT JOIN receipts c ON c.account_id = a.id AND c.number = a.last_number
  LEFT JOIN requests r ON r.account_id = a.id AND r.number = a.last_number`

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
