// The receipt pass over the ledger: each entry that moved a balance gets its receipt (the next
// number of its account, the balance after it, a hash chained to the previous one) and its share of
// hourly and daily totals. A chunk is one transaction, so an entry is booked once or not yet. Knows no keys.
import { type Kysely, sql } from 'kysely'
import { plus, type ReceiptLine, receiptText } from '../../contract/bills/receipt.ts'
import { maxTotalNames } from '../../contract/totals.ts'
import { hashText } from '../../lib/crypto/signing.ts'
import { entryOf } from '../ledger/entries.ts'
import type { Dialect, Schema } from '../schema.ts'
import { insertRows } from '../sql/bulk.ts'
import { getMeta, setMeta } from '../sql/meta.ts'
import type { Store } from '../store.ts'
import { addToDays, dayColumns, gatherDays } from './daily-totals.ts'
import { addToHours, gatherHours, hourColumns, valuesOf } from './hour-shares.ts'
import { floorKey, floorOf, isPending, joinCharged } from './hourly-totals.ts'
import type { PendingRow } from './pending-row.ts'
import { pollAgain, settledIdOf, takeAdvisoryLock } from './receipt-horizon.ts'
import type { Booked, ReceiptPass } from './receipt-pass.ts'
import { addToTags, gatherTags, modelIn, tagColumns, tagValues } from './tag-totals.ts'
import { nameColumns, nameTotals, type TotalNames } from './total-names.ts'

interface ReceiptChunk {
  dialect: Dialect
  /** Maximum number of entries; bounds how long the SQLite writer is blocked. */
  limit: number
  /** Position to continue from; absent: start a pass. */
  pass?: ReceiptPass | undefined
  /** Wait for another gateway that is booking, instead of leaving the work to it. */
  patient?: boolean
  /** PostgreSQL: how long an id may be drawn before anything is written. */
  settleMs?: number
}

const defaultSettleMs = 2_000

/** Books one chunk, the cheapest way for this dialect. `busy`: another gateway is booking. */
export const book = (
  store: Store,
  chunk: Omit<ReceiptChunk, 'dialect'>,
): Promise<Booked | 'busy'> =>
  store.book?.(chunk.limit) ??
  store.tx((tx) => issueReceipts(tx, { ...chunk, dialect: store.dialect }))

/** The same inside a transaction, on either dialect. */
export async function issueReceipts(
  tx: Kysely<Schema>,
  chunk: ReceiptChunk,
): Promise<Booked | 'busy'> {
  const { dialect, limit, patient = false } = chunk
  const isShared = dialect === 'postgres'
  if (isShared && !(await takeAdvisoryLock(tx, patient))) return 'busy'
  const floor = await floorOf(tx)
  const pass =
    chunk.pass !== undefined && !isStale(chunk.pass, floor)
      ? chunk.pass
      : await beginPass(tx, floor, isShared ? (chunk.settleMs ?? defaultSettleMs) : undefined)
  const rows = await findPending(tx, pass.afterId, limit)
  const accounts = await writeReceipts(tx, dialect, rows)
  const lastId = rows.at(-1)?.id ?? pass.afterId
  const booked = { entries: rows.length, accounts }
  if (rows.length === limit) {
    // With one writer, ids come in order and all up to this one exist.
    await raiseFloor(tx, floor, isShared ? Math.min(pass.settledId, lastId) : lastId)
    return { ...booked, pass: { ...pass, afterId: lastId, chunks: pass.chunks + 1 } }
  }
  if (!isShared) {
    await raiseFloor(tx, floor, await newestEntryId(tx))
    return booked
  }
  await raiseFloor(tx, floor, pass.settledId)
  const raised = Math.max(floor, pass.settledId)
  return (await pollAgain(tx, raised)) > raised ? { ...booked, unsettled: true } : booked
}

/** A long pass that cannot raise the floor restarts: by now entries will have settled. */
const maxUnsettledChunks = 32
const isStale = ({ settledId, chunks }: ReceiptPass, floor: number): boolean =>
  settledId <= floor && chunks >= maxUnsettledChunks

/** Without a settle time there is one writer, and its ids come in order. */
async function beginPass(
  tx: Kysely<Schema>,
  floor: number,
  settleMs: number | undefined,
): Promise<ReceiptPass> {
  if (settleMs === undefined) return { afterId: floor, settledId: floor, chunks: 0 }
  const settled = await settledIdOf(tx, settleMs)
  if (settled <= floor) await pollAgain(tx, floor)
  return { afterId: floor, settledId: settled, chunks: 0 }
}

/** Bounded before the join, so that no plan reads the whole log. */
async function findPending(
  tx: Kysely<Schema>,
  afterId: number,
  limit: number,
): Promise<PendingRow[]> {
  const { rows } = await sql<PendingRow>`
    SELECT ${sql.raw(pendingColumns)} FROM (
      SELECT * FROM entries e WHERE ${isPending(afterId)} ORDER BY e.id LIMIT ${limit}
    ) e ${sql.raw(joinCharged)} ORDER BY e.id`.execute(tx)
  return rows
}

async function raiseFloor(tx: Kysely<Schema>, from: number, to: number): Promise<void> {
  if (to > from) await setMeta(tx, floorKey, String(to))
}

export async function newestEntryId(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ id: number | null }>`SELECT max(id) AS id FROM entries`.execute(db)
  return rows[0]?.id ?? 0
}

/** Returns the accounts whose receipts were written. */
async function writeReceipts(
  tx: Kysely<Schema>,
  dialect: Dialect,
  rows: readonly PendingRow[],
): Promise<string[]> {
  if (rows.length === 0) return []
  const accounts = [...new Set(rows.map((row) => row.account_id))]
  const receipts = makeReceipts(rows, await findEnds(tx, accounts), await currencyOf(tx))
  await insertRows(tx, dialect, {
    table: 'receipts',
    columns: ['entry_id', 'account_id', 'number', 'balance_nanos', 'hash'],
    values: receipts.flatMap((receipt) => [
      receipt.entry_id,
      receipt.account_id,
      receipt.number,
      receipt.balance_nanos,
      receipt.hash,
    ]),
  })
  const names = await takeNames(tx, dialect, rows)
  await writeHours(tx, dialect, rows, names)
  const [, ending] = addToTags
  const values = gatherTags(rows, names).flatMap(tagValues)
  await insertRows(tx, dialect, { table: 'tag_totals', columns: tagColumns, values, ending })
  return accounts
}

/** The names of their totals; new ones are stored. */
async function takeNames(
  tx: Kysely<Schema>,
  dialect: Dialect,
  rows: readonly PendingRow[],
): Promise<TotalNames> {
  const naming = nameTotals(rows)
  let step = naming.next()
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
    step = naming.next({ values: known.map(({ value }) => value), count: counted[0]!.count })
  }
  const names = step.value
  const ending = `ON CONFLICT (${nameColumns.join(', ')}) DO NOTHING`
  const values = names.added.flat()
  await insertRows(tx, dialect, { table: 'total_names', columns: nameColumns, values, ending })
  return names
}

/** With the days they are in. */
async function writeHours(
  tx: Kysely<Schema>,
  dialect: Dialect,
  rows: readonly PendingRow[],
  names: TotalNames,
): Promise<void> {
  const hours = gatherHours(rows, modelIn(names))
  await insertRows(tx, dialect, {
    ...{ table: 'hourly_totals', columns: hourColumns, ending: addToHours[1] },
    values: hours.flatMap(valuesOf),
  })
  await insertRows(tx, dialect, {
    ...{ table: 'daily_totals', columns: dayColumns, ending: addToDays[1] },
    values: gatherDays(hours).flat(),
  })
}

async function findEnds(
  tx: Kysely<Schema>,
  accounts: readonly string[],
): Promise<Map<string, ChainEnd>> {
  const { rows } = await sql<Schema['receipts']>`
    SELECT r.account_id, r.number, r.balance_nanos, r.hash FROM accounts a JOIN receipts r
      ON r.account_id = a.id
      AND r.number = (SELECT max(m.number) FROM receipts m WHERE m.account_id = a.id)
    WHERE a.id IN (${sql.join(accounts)})`.execute(tx)
  return new Map(
    rows.map((row) => {
      const { account_id, number, balance_nanos: balanceNanos, hash } = row
      return [account_id, { number, balanceNanos, hash }]
    }),
  )
}

export const pendingColumns = `
  e.id, e.at_ms, e.account_id, e.kind, e.amount_nanos, e.ref, e.model, e.unit, e.quantity,
  e.price_id, e.estimated, e.note, e.token_id, e.tier, e.tags, e.served_model,
  coalesce(e.token_id, r.token_id, t.token_id, '') AS spent_with,
  coalesce(r.input_tokens, 0) AS input_tokens,
  coalesce(r.output_tokens, 0) AS output_tokens,
  coalesce(r.cache_read_tokens, 0) AS cache_read_tokens,
  coalesce(r.cache_write_tokens, 0) AS cache_write_tokens`

/** The last receipt of an account. */
export interface ChainEnd {
  number: number
  balanceNanos: bigint
  hash: string
}

const noReceiptYet: ChainEnd = { number: 0, balanceNanos: 0n, hash: '' }

/** Appends entries in order to the chains of their accounts and moves the chain ends. */
export function makeReceipts(
  rows: readonly PendingRow[],
  ends: Map<string, ChainEnd>,
  currency: string,
): Schema['receipts'][] {
  return rows.map((row) => {
    const end = ends.get(row.account_id) ?? noReceiptYet
    const number = end.number + 1
    const entry = entryOf(row)
    const balanceNanos = plus(end.balanceNanos, entry)
    const line: ReceiptLine = { entry, number, balanceNanos }
    const hash = hashText(receiptText(line, currency, end.hash))
    ends.set(row.account_id, { number, balanceNanos, hash })
    const { id: entry_id, account_id } = row
    return { entry_id, account_id, number, balance_nanos: balanceNanos, hash }
  })
}

/** Amounts have no currency of their own: the database has one. */
export const currencyKey = 'currency'

export const currencyOf = async (db: Kysely<Schema>): Promise<string> =>
  (await getMeta(db, currencyKey)) ?? ''
