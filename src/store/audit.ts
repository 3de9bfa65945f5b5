// Questions that prove the books: do the balances equal their entries, does every charge have its
// request row or task and every charged one its entry, does every task hold what it should? Each
// question is one statement, hence one snapshot.
import { type Kysely, sql } from 'kysely'
import type { Schema } from './schema.ts'

export interface BooksOf {
  accountId: string
  name: string
  entries: number
  balanceNanos: bigint
  heldNanos: bigint
  /** What gateways have drawn, and what their purses add up to. */
  drawnNanos: bigint
  pursesNanos: bigint
  /** The first two, added up from the entries. */
  entriesBalanceNanos: bigint
  entriesHeldNanos: bigint
}

export async function compareBalances(db: Kysely<Schema>): Promise<BooksOf[]> {
  const { rows } = await sql<{
    id: string
    name: string
    entries: number
    balance_nanos: bigint
    held_nanos: bigint
    drawn_nanos: bigint
    purses_nanos: bigint
    sum_balance_nanos: bigint
    sum_held_nanos: bigint
  }>`
    SELECT a.id, a.name, a.balance_nanos, a.held_nanos, a.drawn_nanos, count(e.id) AS entries,
      CAST(coalesce((SELECT sum(amount_nanos) FROM purses p WHERE p.account_id = a.id), 0)
        AS bigint) AS purses_nanos,
      CAST(coalesce(sum(CASE WHEN e.kind IN ('hold', 'release') THEN 0 ELSE e.amount_nanos END), 0)
        AS bigint) AS sum_balance_nanos,
      CAST(-coalesce(sum(CASE WHEN e.kind IN ('hold', 'release') THEN e.amount_nanos ELSE 0 END), 0)
        AS bigint) AS sum_held_nanos
    FROM accounts a LEFT JOIN entries e ON e.account_id = a.id
    GROUP BY a.id, a.name, a.balance_nanos, a.held_nanos, a.drawn_nanos ORDER BY a.id`.execute(db)
  return rows.map((row) => ({
    accountId: row.id,
    name: row.name,
    entries: row.entries,
    balanceNanos: row.balance_nanos,
    heldNanos: row.held_nanos,
    drawnNanos: row.drawn_nanos,
    pursesNanos: row.purses_nanos,
    entriesBalanceNanos: row.sum_balance_nanos,
    entriesHeldNanos: row.sum_held_nanos,
  }))
}

export interface Mismatch {
  ref: string
  problem: string
}

/** Charges of calls against the request log, both ways; at most `limit` of each kind. */
export async function mismatchedCharges(db: Kysely<Schema>, limit: number): Promise<Mismatch[]> {
  const { rows: lost } = await sql<{ ref: string }>`
    SELECT e.ref FROM entries e LEFT JOIN requests r ON r.request_id = e.ref
    WHERE e.kind = 'charge' AND e.ref LIKE 'req%'
      AND (r.request_id IS NULL OR r.charge_nanos <> -e.amount_nanos)
    LIMIT ${limit}`.execute(db)
  const { rows: free } = await sql<{ request_id: string }>`
    SELECT r.request_id FROM requests r
    LEFT JOIN entries e ON e.ref = r.request_id AND e.kind = 'charge'
    WHERE r.charge_nanos <> 0 AND e.id IS NULL LIMIT ${limit}`.execute(db)
  const { rows: strange } = await sql<{ ref: string }>`
    SELECT e.ref FROM entries e LEFT JOIN accounts a ON a.id = e.account_id
    WHERE a.id IS NULL LIMIT ${limit}`.execute(db)
  return [
    ...lost.map(({ ref }) => ({ ref, problem: 'charge and request row do not agree' })),
    ...free.map((row) => ({ ref: row.request_id, problem: 'request row has no charge entry' })),
    ...strange.map(({ ref }) => ({ ref, problem: 'entry belongs to no account' })),
  ]
}

/** Tasks against the ledger, both ways; at most `limit` of each kind. */
export async function mismatchedTasks(db: Kysely<Schema>, limit: number): Promise<Mismatch[]> {
  const { rows: charged } = await sql<{ id: string }>`
    SELECT t.id FROM tasks t LEFT JOIN entries e ON e.ref = t.id AND e.kind = 'charge'
    WHERE t.charge_nanos <> coalesce(-e.amount_nanos, 0)
      OR (e.id IS NOT NULL AND t.state <> 'succeeded')
    LIMIT ${limit}`.execute(db)
  const { rows: lost } = await sql<{ ref: string }>`
    SELECT h.ref FROM entries h LEFT JOIN tasks t ON t.id = h.ref
    WHERE h.kind = 'hold' AND (t.id IS NULL OR t.hold_nanos <> -h.amount_nanos)
    LIMIT ${limit}`.execute(db)
  const { rows: held } = await sql<{ id: string }>`
    SELECT t.id FROM tasks t
    LEFT JOIN entries h ON h.ref = t.id AND h.kind = 'hold'
    LEFT JOIN entries r ON r.ref = t.id AND r.kind = 'release'
    WHERE h.id IS NULL
      OR (r.id IS NULL) <> (t.state NOT IN ('succeeded', 'failed', 'cancelled'))
      OR r.amount_nanos <> -h.amount_nanos
    LIMIT ${limit}`.execute(db)
  return [
    ...charged.map(({ id }) => ({ ref: id, problem: 'charge and task do not agree' })),
    ...lost.map(({ ref }) => ({ ref, problem: 'hold and task do not agree' })),
    ...held.map(({ id }) => ({ ref: id, problem: 'the task and its hold are not at one' })),
  ]
}
