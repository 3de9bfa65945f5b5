// Booking: an entry that moves a balance gets its receipt in the transaction that writes it (the next number
// of its account, the balance after it, a hash chained to the previous one) and its share of the totals. The
// account's row has the end of the chain and is locked meanwhile. Knows no keys.
import { type Kysely, sql } from 'kysely'
import { plus, receiptText } from '../../contract/bills/receipt.ts'
import { maxTotalNames } from '../../contract/totals.ts'
import { hashText } from '../../lib/crypto/signing.ts'
import type { Booking, StoredEntry } from '../rows/ledger-rows.ts'
import type { Schema } from '../schema.ts'
import { insertRows } from '../sql/bulk.ts'
import { dialectOf } from '../sql/dialect-of.ts'
import { getMeta } from '../sql/meta.ts'
import { adding, columnsOf, grainNames, grains } from './grains.ts'
import { entrySlotOf, rollUp } from './roll-up.ts'
import { nameColumns } from './total-names.ts'

/** The last receipt of an account. */
export interface ChainEnd {
  number: number
  balanceNanos: bigint
  hash: string
}

/** The receipt of an entry that follows this one. */
export function nextReceipt(end: ChainEnd, entry: StoredEntry, currency: string): ChainEnd {
  const number = end.number + 1
  const balanceNanos = plus(end.balanceNanos, entry)
  const hash = hashText(receiptText({ entry, number, balanceNanos }, currency, end.hash))
  return { number, balanceNanos, hash }
}

/** Until the end of the transaction; with one writer nothing else can be in its way. */
export async function lockAccount(tx: Kysely<Schema>, id: string): Promise<void> {
  const row = tx.selectFrom('accounts').select('id').where('id', '=', id)
  if (dialectOf(tx) === 'postgres') await row.forUpdate().execute()
}

/** Adds entries to the totals of their accounts, whose rows are locked. */
export async function addToTotals(tx: Kysely<Schema>, bookings: readonly Booking[]): Promise<void> {
  const dialect = dialectOf(tx)
  const slot = dialect === 'sqlite' ? 0 : entrySlotOf(bookings[0]?.accountId ?? '')
  const rolling = rollUp(bookings, slot)
  let step = rolling.next()
  while (!step.done) {
    const { account_id, month, name, values } = step.value
    const known = await tx
      .selectFrom('total_names')
      .select('value')
      .where((e) => e.and({ account_id, month, name }))
      .where('value', 'in', values)
      .execute()
    const { rows: counted } = await sql<{ count: number }>`
      SELECT count(*) AS count FROM (
        SELECT 1 FROM total_names WHERE account_id = ${account_id} AND month = ${month}
          AND name = ${name} LIMIT ${sql.lit(maxTotalNames)}) AS names`.execute(tx)
    step = rolling.next({ values: known.map(({ value }) => value), count: counted[0]!.count })
  }
  const { names, rows } = step.value
  const ending = 'ON CONFLICT DO NOTHING'
  const values = names.flat()
  await insertRows(tx, dialect, { table: 'total_names', columns: nameColumns, values, ending })
  for (const name of grainNames) {
    const grain = grains[name]
    const bulk = { table: grain.table, columns: columnsOf(grain), ending: adding(grain) }
    await insertRows(tx, dialect, { ...bulk, values: rows[name].flat() })
  }
}

/** Amounts have no currency of their own: the database has one. */
export const currencyKey = 'currency'

export const currencyOf = async (db: Kysely<Schema>): Promise<string> =>
  (await getMeta(db, currencyKey)) ?? ''
