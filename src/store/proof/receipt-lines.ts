// Receipts with their entries, in order of number: over a period, or link by link.
import { type Kysely, sql } from 'kysely'
import type { ReceiptLine } from '../../contract/bills/receipt.ts'
import { entryOf } from '../ledger/entries.ts'
import { type ArmRow, bothOf, selectCalls, selectReceipts } from '../rows/ledger-rows.ts'
import type { Schema } from '../schema.ts'

export interface StoredReceipt extends ReceiptLine {
  hash: string
}

const lineOf = (row: ArmRow): StoredReceipt => ({
  entry: entryOf(row),
  number: row.number,
  balanceNanos: row.balance_nanos,
  hash: row.hash,
})

interface LineQuery {
  accountId: string
  fromMs: number
  untilMs: number
  afterNumber: number
  lastNumber: number
  limit: number
}

/** Lines over a period. */
export async function findLines(db: Kysely<Schema>, query: LineQuery): Promise<StoredReceipt[]> {
  const { accountId, fromMs, untilMs, afterNumber, lastNumber, limit } = query
  const { rows } = await sql<ArmRow>`${bothOf(
    sql`${selectReceipts} AND c.account_id = ${accountId} AND c.number > ${afterNumber}
      AND c.number <= ${lastNumber} AND e.at_ms >= ${fromMs} AND e.at_ms < ${untilMs}
      ORDER BY c.number LIMIT ${limit}`,
    sql`${selectCalls} AND r.account_id = ${accountId} AND r.number > ${afterNumber}
      AND r.number <= ${lastNumber} AND r.booked_at_ms >= ${fromMs} AND r.booked_at_ms < ${untilMs}
      ORDER BY r.number LIMIT ${limit}`,
  )} ORDER BY number LIMIT ${limit}`.execute(db)
  return rows.map(lineOf)
}

/** Every link from one number to another, both included; a missing entry leaves a gap. */
export async function findLinks(
  db: Kysely<Schema>,
  accountId: string,
  { first, last }: { first: number; last: number },
): Promise<StoredReceipt[]> {
  const { rows } = await sql<ArmRow>`${bothOf(
    sql`${selectReceipts} AND c.account_id = ${accountId} AND c.number >= ${first}
      AND c.number <= ${last}`,
    sql`${selectCalls} AND r.account_id = ${accountId} AND r.number >= ${first}
      AND r.number <= ${last}`,
  )} ORDER BY number`.execute(db)
  return rows.map(lineOf)
}

/** These receipts of an account, by number. */
export async function findReceipts(
  db: Kysely<Schema>,
  accountId: string,
  numbers: readonly number[],
): Promise<Map<number, { balanceNanos: bigint; hash: string }>> {
  if (numbers.length === 0) return new Map()
  const of = (table: 'receipts' | 'requests') => sql`SELECT number, balance_nanos, hash
    FROM ${sql.raw(table)} WHERE account_id = ${accountId} AND number IN (${sql.join(numbers)})`
  const { rows } = await sql<{ number: number; balance_nanos: bigint; hash: string }>`
    ${bothOf(of('receipts'), of('requests'))}`.execute(db)
  return new Map(
    rows.map(({ number, balance_nanos: balanceNanos, hash }) => [number, { balanceNanos, hash }]),
  )
}

/** Where the receipt of an entry is. */
export async function findReceipt(
  db: Kysely<Schema>,
  entryId: number,
): Promise<{ accountId: string; number: number } | undefined> {
  const { rows } = await sql<{ account_id: string; number: number }>`${bothOf(
    sql`SELECT account_id, number FROM receipts WHERE entry_id = ${entryId}`,
    sql`SELECT account_id, number FROM requests WHERE seq = ${entryId} AND number IS NOT NULL`,
  )}`.execute(db)
  return rows[0] && { accountId: rows[0].account_id, number: rows[0].number }
}
