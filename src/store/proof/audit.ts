// Queries that prove the ledger at one moment (`store.snapshot`): do the balances equal their
// entries, and does every charge, hold and task have its counterpart? src/billing interprets the
// results.
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Schema } from '../schema.ts'

type Db = Kysely<Schema>

/** Which part of the ledger to check; empty: all of it. */
export interface AuditScope {
  accountId?: string | undefined
  /** Only newer entries and request rows; both have ids of one sequence. */
  since?: { afterId: number; untilId: number } | undefined
}

/** A discrepancy. */
export interface Mismatch {
  accountId: string
  ref?: string
  entryId?: number
  number?: number
  problem: string
}

export interface BooksOf {
  accountId: string
  name: string
  entries: number
  balanceNanos: bigint
  heldNanos: bigint
  /** Leased credit by the account row, and the sum of its credit leases. */
  leasedNanos: bigint
  creditLeasesNanos: bigint
  /** The first two, summed from the entries. */
  entriesBalanceNanos: bigint
  entriesHeldNanos: bigint
}

const accountsAtOnce = 500

/** Every account, or one, with the sums of its entries; paged, in order of id. */
export async function* balancePages(db: Db, { accountId }: AuditScope): AsyncGenerator<BooksOf[]> {
  let after = ''
  for (;;) {
    const page = await balancesAfter(db, after, accountId)
    if (page.length > 0) yield page
    const last = page.at(-1)
    if (last === undefined || page.length < accountsAtOnce) return
    after = last.accountId
  }
}

async function balancesAfter(db: Db, after: string, accountId?: string): Promise<BooksOf[]> {
  const which = accountId === undefined ? sql`id > ${after}` : sql`id = ${accountId}`
  const page = sql`SELECT * FROM accounts WHERE ${which} ORDER BY id LIMIT ${accountsAtOnce}`
  const { rows: ends } = await sql<{ first: string | null; last: string | null }>`
    SELECT min(id) AS first, max(id) AS last FROM (${page}) AS page`.execute(db)
  const { first, last } = ends[0]!
  const { rows } = await sql<BalanceRow>`
    SELECT a.id, a.name, a.balance_nanos, a.held_nanos, a.leased_nanos, ${creditLeasesOf},
      coalesce(e.entries, 0) AS entries,
      coalesce(e.sum_whole_nanos, 0) AS sum_whole_nanos, coalesce(e.sum_rest_nanos, 0) AS sum_rest_nanos,
      coalesce(e.held_whole_nanos, 0) AS held_whole_nanos,
      coalesce(e.held_rest_nanos, 0) AS held_rest_nanos
    FROM (${page}) AS a LEFT JOIN (
      SELECT account_id, count(*) AS entries,
        ${safeSum(`CASE WHEN kind IN ('hold', 'release') THEN 0 ELSE amount_nanos END`, 'sum')},
        ${safeSum(`CASE WHEN kind IN ('hold', 'release') THEN amount_nanos ELSE 0 END`, 'held')}
      FROM ledger WHERE account_id >= ${first ?? ''} AND account_id <= ${last ?? ''}
      GROUP BY account_id
    ) AS e ON e.account_id = a.id ORDER BY a.id`.execute(db)
  return rows.map((row) => ({
    accountId: row.id,
    name: row.name,
    entries: row.entries,
    balanceNanos: row.balance_nanos,
    heldNanos: row.held_nanos,
    leasedNanos: row.leased_nanos,
    creditLeasesNanos: joined(row.leases_whole_nanos, row.leases_rest_nanos),
    entriesBalanceNanos: joined(row.sum_whole_nanos, row.sum_rest_nanos),
    entriesHeldNanos: -joined(row.held_whole_nanos, row.held_rest_nanos),
  }))
}

interface BalanceRow extends CreditLeasesRow {
  id: string
  name: string
  entries: number
  balance_nanos: bigint
  held_nanos: bigint
  leased_nanos: bigint
  sum_whole_nanos: bigint
  sum_rest_nanos: bigint
  held_whole_nanos: bigint
  held_rest_nanos: bigint
}

/** Tampered amounts may sum to more than a dialect can hold: so the sum comes in two parts. */
export const safeSum = (of: string, name: string): RawBuilder<unknown> =>
  sql.raw(`
    CAST(coalesce(sum((${of}) / 1000000000), 0) AS bigint) AS ${name}_whole_nanos,
    CAST(coalesce(sum((${of}) % 1000000000), 0) AS bigint) AS ${name}_rest_nanos`)

export const joined = (whole: bigint, rest: bigint): bigint => whole * 1_000_000_000n + rest

export interface CreditLeasesRow {
  leases_whole_nanos: bigint
  leases_rest_nanos: bigint
}

const ofCreditLeases = (part: string) =>
  sql.raw(`CAST(coalesce((SELECT sum(p.amount_nanos ${part} 1000000000) FROM credit_leases p
    WHERE p.account_id = a.id), 0) AS bigint)`)

/** Of the account `a`. */
export const creditLeasesOf = sql`
  ${ofCreditLeases('/')} AS leases_whole_nanos, ${ofCreditLeases('%')} AS leases_rest_nanos`

/** Narrows a query over entries to the audit scope. */
export function entriesIn(alias: string, { accountId, since }: AuditScope): RawBuilder<boolean> {
  const e = sql.ref(alias)
  if (accountId !== undefined) return sql`${e}.account_id = ${accountId}`
  if (since === undefined) return sql`1 = 1`
  return sql`${e}.id > ${since.afterId} AND ${e}.id <= ${since.untilId}`
}

type Found = { account_id: string; ref: string; id?: number }

const mismatches = (rows: readonly Found[], problem: string): Mismatch[] =>
  rows.map(({ account_id, ref, id }) => ({
    accountId: account_id,
    ref,
    ...(id !== undefined && { entryId: id }),
    problem,
  }))

/** Request rows that were settled but have no charge. */
export async function uncharged(db: Db, scope: AuditScope, limit: number): Promise<Mismatch[]> {
  const { accountId, since } = scope
  const which =
    accountId !== undefined
      ? sql`r.account_id = ${accountId}`
      : since === undefined
        ? sql`1 = 1`
        : sql`r.seq > ${since.afterId} AND r.seq <= ${since.untilId}`
  const { rows } = await sql<Found>`
    SELECT r.account_id, r.request_id AS ref FROM requests r
    LEFT JOIN entries e ON e.ref = r.request_id AND e.kind = 'charge'
    WHERE ${which} AND (r.charge_nanos <> 0 OR r.input_tokens IS NOT NULL)
      AND r.number IS NULL AND e.id IS NULL
    LIMIT ${limit}`.execute(db)
  return mismatches(rows, 'request row has no charge entry')
}

/** Entries that are invalid whatever they belong to. */
export async function impossible(db: Db, scope: AuditScope, limit: number): Promise<Mismatch[]> {
  const { rows: sides } = await sql<Found>`
    SELECT e.account_id, e.ref, e.id FROM ledger e WHERE ${entriesIn('e', scope)} AND NOT (
      (e.kind IN ('credit', 'adjust') AND e.amount_nanos <> 0)
      OR (e.kind IN ('hold', 'charge') AND e.amount_nanos <= 0)
      OR (e.kind = 'release' AND e.amount_nanos >= 0)
      OR (e.kind = 'refund' AND e.amount_nanos > 0)
    ) ORDER BY e.id LIMIT ${limit}`.execute(db)
  return mismatches(sides, 'the entry is no transfer: its kind and its sign do not go together')
}

/** Refunds of nothing that their account was charged for, and charges that more was given back of. */
export async function overRefunded(db: Db, scope: AuditScope, limit: number): Promise<Mismatch[]> {
  const { rows } = await sql<Found>`
    SELECT e.account_id, e.refund_of AS ref, max(e.id) AS id FROM entries e
    WHERE e.refund_of IN (
      SELECT n.refund_of FROM entries n WHERE n.refund_of IS NOT NULL AND ${entriesIn('n', scope)}
    ) GROUP BY e.account_id, e.refund_of
    HAVING sum(e.amount_nanos / 1000000000) * 1000000000 + sum(e.amount_nanos % 1000000000)
      + coalesce((
        SELECT min(c.amount_nanos) FROM ledger c
        WHERE c.ref = e.refund_of AND c.kind = 'charge' AND c.account_id = e.account_id
      ), 0) > 0
    ORDER BY max(e.id) LIMIT ${limit}`.execute(db)
  return mismatches(rows, 'more was given back than was charged')
}

/** Entries, receipts and other rows that belong to no account. */
export async function ownerless(db: Db, limit: number): Promise<Mismatch[]> {
  const found: Mismatch[] = []
  for (const table of ownedTables) {
    const { rows } = await sql<{ account_id: string }>`
      SELECT DISTINCT o.account_id FROM ${sql.table(table)} o
      WHERE NOT EXISTS (SELECT 1 FROM accounts a WHERE a.id = o.account_id)
      LIMIT ${limit}`.execute(db)
    for (const { account_id } of rows) {
      found.push({ accountId: account_id, problem: `rows of ${table} belong to no account` })
    }
  }
  return found
}

const ownedTables = [
  'ledger',
  'receipts',
  'seals',
  'hourly_totals',
  'daily_totals',
  'closed_months',
  'credit_leases',
]
