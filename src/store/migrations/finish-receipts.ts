// After migration 33: entries that an earlier version had left without a receipt get theirs, with their
// share of the totals, a bounded number in each transaction and before any entry of this version.
import { type Kysely, sql } from 'kysely'
import { entryOf } from '../ledger/entries.ts'
import { addToTotals, type ChainEnd, currencyOf, nextReceipt } from '../proof/receipts.ts'
import type { LedgerRow } from '../rows/ledger-rows.ts'
import type { Schema } from '../schema.ts'
import { insertRows } from '../sql/bulk.ts'
import { dialectOf } from '../sql/dialect-of.ts'
import { getMeta, setMeta } from '../sql/meta.ts'

/** In the meta table: every entry up to this id has its receipt. Absent: all have. */
export const unfinishedKey = 'receipts_unfinished'

const entriesAtOnce = 2_000
const receiptColumns = ['entry_id', 'account_id', 'number', 'balance_nanos', 'hash']

type PendingRow = LedgerRow & {
  spent_with: string
  input_tokens: number | null
  output_tokens: number | null
  cache_read_tokens: number | null
  cache_write_tokens: number | null
}

/** One step; true when there is no more to do. */
export async function finishReceipts(tx: Kysely<Schema>): Promise<boolean> {
  const afterId = await getMeta(tx, unfinishedKey)
  if (afterId === undefined) return true
  const rows = await findPending(tx, Number(afterId))
  const ends = new Map<string, ChainEnd>()
  const currency = await currencyOf(tx)
  const values: (string | number | bigint)[] = []
  for (const row of rows) {
    const end = ends.get(row.account_id) ?? (await endOf(tx, row.account_id))
    const receipt = nextReceipt(end, entryOf(row), currency)
    ends.set(row.account_id, receipt)
    values.push(row.id, row.account_id, receipt.number, receipt.balanceNanos, receipt.hash)
  }
  await insertRows(tx, dialectOf(tx), { table: 'receipts', columns: receiptColumns, values })
  for (const [id, { number, hash, balanceNanos }] of ends) {
    const end = { last_number: number, last_hash: hash, last_balance_nanos: balanceNanos }
    await tx.updateTable('accounts').set(end).where('id', '=', id).execute()
  }
  await addToTotals(tx, rows.map(bookingOf))
  if (rows.length === entriesAtOnce) {
    await setMeta(tx, unfinishedKey, String(rows.at(-1)!.id))
    return false
  }
  await tx.deleteFrom('meta').where('key', '=', unfinishedKey).execute()
  return true
}

/** With the request or task that an entry charged: older entries do not name their token. */
async function findPending(tx: Kysely<Schema>, afterId: number): Promise<PendingRow[]> {
  const { rows } = await sql<PendingRow>`
    SELECT e.*, coalesce(e.token_id, r.token_id, t.token_id, '') AS spent_with,
      r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens
    FROM (
      SELECT * FROM entries WHERE id > ${afterId} AND kind NOT IN ('hold', 'release')
        AND NOT EXISTS (SELECT 1 FROM receipts x WHERE x.entry_id = entries.id)
      ORDER BY id LIMIT ${entriesAtOnce}
    ) e
    LEFT JOIN requests r ON r.request_id = e.ref AND e.kind = 'charge'
    LEFT JOIN tasks t ON t.id = e.ref AND e.token_id IS NULL AND e.kind = 'charge'
    ORDER BY e.id`.execute(tx)
  return rows
}

const bookingOf = (row: PendingRow) => ({
  ...entryOf(row),
  tokenId: row.spent_with,
  usage: {
    inputTokens: row.input_tokens ?? 0,
    outputTokens: row.output_tokens ?? 0,
    cacheReadTokens: row.cache_read_tokens ?? 0,
    cacheWriteTokens: row.cache_write_tokens ?? 0,
  },
})

async function endOf(tx: Kysely<Schema>, accountId: string): Promise<ChainEnd> {
  const account = await tx
    .selectFrom('accounts')
    .select(['last_number', 'last_hash', 'last_balance_nanos'])
    .where('id', '=', accountId)
    .executeTakeFirst()
  return {
    number: account?.last_number ?? 0,
    balanceNanos: account?.last_balance_nanos ?? 0n,
    hash: account?.last_hash ?? '',
  }
}
