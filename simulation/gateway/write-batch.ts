// One batch of records of several gateways in one transaction. The rows are written as SQLite writes them; what
// only PostgreSQL does follows here: a charge comes out of the gateway's credit lease, and one on credit that
// the gateway no longer has makes the whole batch fail.
import { DatabaseError } from '../../src/store/dialects/errors.ts'
import type { Batch } from '../../src/store/dialects/group-commit.ts'
import { cellsOf } from '../../src/store/dialects/group-commit-rows.ts'
import { BatchWriter } from '../../src/store/dialects/sqlite/batch-writer.ts'
import type { SimDatabase } from './database.ts'

const writers = new WeakMap<SimDatabase, { records: BatchWriter; beforeCommit: () => void }>()

/** Prepared once for each database. */
export function writerOf(db: SimDatabase): { records: BatchWriter; beforeCommit: () => void } {
  let own = writers.get(db)
  if (own === undefined) {
    const records = new BatchWriter(db.raw, () => own!.beforeCommit())
    own = { records, beforeCommit() {} }
    writers.set(db, own)
  }
  return own
}

/** The statements must be closed before the database. */
export function closeWriter(db: SimDatabase): void {
  writers.get(db)?.records.close()
  writers.delete(db)
}

export function writeSharedBatch(db: SimDatabase, batch: Batch, gatewayId: string): void {
  const writer = writerOf(db)
  const before = balances(db)
  writer.beforeCommit = () => {
    for (const [accountId, nanos] of balances(db)) {
      const spent = nanos - (before.get(accountId) ?? 0n)
      if (spent < 0n) takeFromLease(db, accountId, gatewayId, spent)
    }
  }
  try {
    writer.records.write([{ requests: cellsOf(batch.requests), losses: cellsOf(batch.losses) }])
  } finally {
    writer.beforeCommit = () => {}
  }
}

const balances = (db: SimDatabase): Map<string, bigint> =>
  new Map(
    db
      .query<{ id: string; balance_nanos: bigint }>('SELECT id, balance_nanos FROM accounts')
      .rows.map(({ id, balance_nanos }) => [id, balance_nanos]),
  )

function takeFromLease(db: SimDatabase, accountId: string, gatewayId: string, nanos: bigint): void {
  const { changes } = db.query(
    'UPDATE credit_leases SET amount_nanos = amount_nanos + ? WHERE account_id = ? AND gateway_id = ?',
    [nanos, accountId, gatewayId],
  )
  if (changes === 0) throw new DatabaseError('22012', 'the credit lease behind a charge is gone')
  db.query('UPDATE accounts SET leased_nanos = leased_nanos + ? WHERE id = ?', [nanos, accountId])
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
