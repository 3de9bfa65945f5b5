// One batch of records of several gateways in one transaction. It follows the rules of the PostgreSQL
// statement, which SQLite cannot run: rows that exist stay as they are, a charge comes out of the gateway's
// credit lease, and one on credit that the gateway no longer has makes the whole batch fail.

import { DatabaseError } from '../../src/store/dialects/errors.ts'
import {
  type Batch,
  cellsOf,
  entryColumns,
  lossColumns,
  nullableInEntries,
  nullableInLosses,
  nullableInRequests,
  requestColumns,
} from '../../src/store/dialects/group-commit.ts'
import type { SimDatabase } from './database.ts'

const lossKey = 'ref, reason, channel, upstream_id'

export function writeSharedBatch(db: SimDatabase, batch: Batch, gatewayId: string): void {
  db.run('BEGIN')
  try {
    const requests = { table: 'requests', columns: requestColumns, nullable: nullableInRequests }
    for (const row of rowsOf(batch.requests, requestColumns.length)) {
      insert(db, requests, 'request_id', row)
    }
    const losses = { table: 'losses', columns: lossColumns, nullable: nullableInLosses }
    for (const row of rowsOf(batch.losses, lossColumns.length)) insert(db, losses, lossKey, row)
    const sums = new Map<string, Sum>()
    const entries = { table: 'entries', columns: entryColumns, nullable: nullableInEntries }
    for (const row of rowsOf(batch.entries, entryColumns.length)) {
      moveOutOfClosed(db, row)
      if (insert(db, entries, 'ref, kind', row)) add(sums, row)
    }
    for (const [accountId, sum] of sums) book(db, accountId, gatewayId, sum)
    db.run('COMMIT')
  } catch (error) {
    db.rollback()
    throw error
  }
}

/** No entry may be in a closed month of its account. */
function moveOutOfClosed(db: SimDatabase, row: string[]): void {
  const accountId = row[at('account_id')]!
  const { rows } = db.query<{ closed_until_ms: number }>(
    'SELECT closed_until_ms FROM accounts WHERE id = ?',
    [accountId],
  )
  const untilMs = rows[0]?.closed_until_ms ?? 0
  if (Number(row[at('at_ms')]) < untilMs) row[at('at_ms')] = String(untilMs)
}

interface Sum {
  balance: bigint
  held: bigint
}

interface Table {
  table: string
  columns: readonly string[]
  nullable: ReadonlySet<string>
}

function insert(db: SimDatabase, { table, columns, nullable }: Table, key: string, row: string[]) {
  const cells = columns.map((column) => (nullable.has(column) ? `NULLIF(?, '')` : '?'))
  const { changes } = db.query(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${cells.join(', ')})
     ON CONFLICT (${key}) DO NOTHING`,
    row,
  )
  return changes > 0
}

const at = (column: (typeof entryColumns)[number]) => entryColumns.indexOf(column)

function add(sums: Map<string, Sum>, row: string[]): void {
  const accountId = row[at('account_id')]!
  const kind = row[at('kind')]!
  const amount = BigInt(row[at('amount_nanos')]!)
  const sum = sums.get(accountId) ?? { balance: 0n, held: 0n }
  if (kind === 'hold' || kind === 'release') sum.held -= amount
  else sum.balance += amount
  sums.set(accountId, sum)
}

function book(db: SimDatabase, accountId: string, gatewayId: string, { balance, held }: Sum): void {
  if (balance < 0n) {
    const { changes } = db.query(
      'UPDATE credit_leases SET amount_nanos = amount_nanos + ? WHERE account_id = ? AND gateway_id = ?',
      [balance, accountId, gatewayId],
    )
    if (changes === 0) throw new DatabaseError('22012', 'the credit lease behind a charge is gone')
  }
  db.query(
    `UPDATE accounts SET balance_nanos = balance_nanos + ?, held_nanos = held_nanos + ?,
       leased_nanos = leased_nanos + ? WHERE id = ?`,
    [balance, held, balance < 0n ? balance : 0n, accountId],
  )
}

/** Rows of a batch, each with its cells. */
export function rowsOf(text: string, width: number): string[][] {
  const cells = cellsOf(text)
  const rows: string[][] = []
  for (let start = 0; start < cells.length; start += width) {
    rows.push(cells.slice(start, start + width))
  }
  return rows
}
