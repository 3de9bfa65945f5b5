// Receipts with their entries, in order of number: over a period, or link by link.
import { type Kysely, sql } from 'kysely'
import type { ReceiptLine } from '../../contract/bills/receipt.ts'
import { type EntryRow, entryOf } from '../ledger/entries.ts'
import type { Schema } from '../schema.ts'

export interface StoredReceipt extends ReceiptLine {
  hash: string
}

interface Row extends EntryRow {
  number: number
  balance_nanos: bigint
  hash: string
}

const columns = sql.raw(`
  c.number, c.balance_nanos, c.hash, e.id, e.at_ms, e.account_id, e.kind, e.amount_nanos, e.ref,
  e.model, e.unit, e.quantity, e.price_id, e.estimated, e.note, e.token_id, e.tier, e.tags,
  e.served_model,
  (SELECT t.request_id FROM tasks t WHERE t.id = e.ref) AS task_request_id`)

const lineOf = (row: Row): StoredReceipt => ({
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
  const { rows } = await sql<Row>`
    SELECT ${columns} FROM receipts c JOIN entries e ON e.id = c.entry_id
    WHERE c.account_id = ${accountId} AND c.number > ${afterNumber} AND c.number <= ${lastNumber}
      AND e.at_ms >= ${fromMs} AND e.at_ms < ${untilMs}
    ORDER BY c.number LIMIT ${limit}`.execute(db)
  return rows.map(lineOf)
}

/** Every link from one number to another, both included; a missing entry leaves a gap. */
export async function findLinks(
  db: Kysely<Schema>,
  accountId: string,
  { first, last }: { first: number; last: number },
): Promise<StoredReceipt[]> {
  const { rows } = await sql<Row>`
    SELECT ${columns} FROM receipts c JOIN entries e ON e.id = c.entry_id
    WHERE c.account_id = ${accountId} AND c.number >= ${first} AND c.number <= ${last}
    ORDER BY c.number`.execute(db)
  return rows.map(lineOf)
}

/** Hashes of these receipts of an account, by number. */
export async function findHashes(
  db: Kysely<Schema>,
  accountId: string,
  numbers: readonly number[],
): Promise<Map<number, string>> {
  if (numbers.length === 0) return new Map()
  const rows = await db
    .selectFrom('receipts')
    .select(['number', 'hash'])
    .where('account_id', '=', accountId)
    .where('number', 'in', numbers)
    .execute()
  return new Map(rows.map(({ number, hash }) => [number, hash]))
}

/** The receipt of an entry. */
export async function findReceipt(
  db: Kysely<Schema>,
  entryId: number,
): Promise<Schema['receipts'] | undefined> {
  return db.selectFrom('receipts').selectAll().where('entry_id', '=', entryId).executeTakeFirst()
}

/** The newest receipt number of an account, 0 before the first. */
export async function lastNumberOf(db: Kysely<Schema>, accountId: string): Promise<number> {
  const row = await db
    .selectFrom('receipts')
    .select('number')
    .where('account_id', '=', accountId)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.number ?? 0
}
