// The ledger: entries are added once and never changed, and the account's balance, held amount and chain of
// receipts move in the same transaction. The hot path books its charges in the dialects' batch writers.
import { type Kysely, sql } from 'kysely'
import {
  chargeTextColumns,
  chargeTexts,
  type Entry,
  type EntryKind,
} from '../../contract/ledger.ts'
import { ensure } from '../../lib/ensure.ts'
import { addToTotals, currencyOf, nextReceipt } from '../proof/receipts.ts'
import {
  bothOf,
  type LedgerRow,
  newestId,
  type StoredEntry,
  selectCalls,
  selectEntries,
  selectReceipts,
} from '../rows/ledger-rows.ts'
import type { Schema } from '../schema.ts'
import {
  BadCursor,
  cursorAt,
  type Page,
  type PageQuery,
  pageOf,
  textCursor,
} from '../sql/cursor.ts'
import { dialectOf } from '../sql/dialect-of.ts'

export type { StoredEntry }

/**
 * False, and nothing changes, when an entry with the same ref and kind exists. The account's row is
 * locked first and gives the end of its closed months. An entry before that end is booked at the
 * first moment after it.
 */
export async function appendEntry(tx: Kysely<Schema>, entry: Entry): Promise<boolean> {
  const { accountId, kind, amountNanos, ref } = entry
  const isHeld = kind === 'hold' || kind === 'release'
  const account = await moveBalance(tx, accountId, isHeld, amountNanos)
  ensure(account !== undefined, `entry ${ref} is for an account that exists`)
  const atMs = Math.max(entry.atMs, account.closed_until_ms)
  const id = await insertEntry(tx, { ...entry, atMs })
  if (id === undefined) {
    await moveBalance(tx, accountId, isHeld, -amountNanos)
    return false
  }
  if (!isHeld) await bookEntry(tx, { ...entry, atMs, id }, account)
  return true
}

const moveBalance = (tx: Kysely<Schema>, accountId: string, isHeld: boolean, nanos: bigint) =>
  tx
    .updateTable('accounts')
    .set((e) =>
      isHeld
        ? { held_nanos: e('held_nanos', '-', nanos) }
        : { balance_nanos: e('balance_nanos', '+', nanos) },
    )
    .where('id', '=', accountId)
    .returning(['closed_until_ms', 'last_number', 'last_hash', 'last_balance_nanos'])
    .executeTakeFirst()

/** With one writer, the next of both. */
const nextId = sql<number>`${newestId} + 1`

async function insertEntry(tx: Kysely<Schema>, entry: Entry): Promise<number | undefined> {
  if (entry.kind === 'charge' && (await isChargedCall(tx, entry.ref))) return undefined
  const inserted = await tx
    .insertInto('entries')
    .values({
      // PostgreSQL draws it from the sequence that calls have theirs from.
      ...(dialectOf(tx) === 'sqlite' && { id: nextId }),
      at_ms: entry.atMs,
      account_id: entry.accountId,
      kind: entry.kind === 'refund' ? 'adjust' : entry.kind,
      amount_nanos: entry.amountNanos,
      ref: entry.ref,
      model: entry.model ?? null,
      unit: entry.unit ?? null,
      quantity: entry.quantity ?? null,
      price_id: entry.priceId ?? null,
      estimated: entry.estimated === true ? 1 : 0,
      note: entry.note ?? null,
      token_id: entry.tokenId ?? null,
      tier: entry.tier ?? null,
      tags: entry.tags ?? null,
      ...chargeTextColumns(({ field }) => entry[field] ?? null),
    })
    .onConflict((conflict) => conflict.columns(['ref', 'kind']).doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted?.id
}

/** Charges of calls have no entry of their own. */
async function isChargedCall(tx: Kysely<Schema>, ref: string): Promise<boolean> {
  if (!ref.startsWith('req_')) return false
  const call = tx.selectFrom('requests').select('number').where('request_id', '=', ref)
  return (await call.where('number', 'is not', null).executeTakeFirst()) !== undefined
}

interface AccountEnd {
  last_number: number
  last_hash: string
  last_balance_nanos: bigint
}

/** The account's row is locked. */
async function bookEntry(
  tx: Kysely<Schema>,
  entry: StoredEntry,
  { last_number, last_hash, last_balance_nanos }: AccountEnd,
): Promise<void> {
  const end = { number: last_number, balanceNanos: last_balance_nanos, hash: last_hash }
  const receipt = nextReceipt(end, entry, await currencyOf(tx))
  const { id: entry_id, accountId: account_id } = entry
  const { number, balanceNanos: balance_nanos, hash } = receipt
  await tx
    .insertInto('receipts')
    .values({ entry_id, account_id, number, balance_nanos, hash })
    .execute()
  await tx
    .updateTable('accounts')
    .set({ last_number: number, last_hash: hash, last_balance_nanos: balance_nanos })
    .where('id', '=', account_id)
    .execute()
  await addToTotals(tx, [entry])
}

/** Newest first. */
export async function listEntries(
  db: Kysely<Schema>,
  accountId: string,
  { limit, cursor }: PageQuery,
): Promise<Page<StoredEntry>> {
  const before = cursor === undefined ? undefined : pointIn(cursor)
  const { rows } = await sql<EntryRow & { number: number | null }>`${bothOf(
    sql`${selectEntries} AND e.account_id = ${accountId}
      ${before === undefined ? sql`` : sql`AND e.id < ${before.id}`}
      ORDER BY e.id DESC LIMIT ${limit + 1}`,
    // Of an account, numbers are in the order of ids.
    sql`${selectCalls} AND r.account_id = ${accountId}
      ${before === undefined ? sql`` : sql`AND r.seq < ${before.id} AND r.number < ${before.number}`}
      ORDER BY r.number DESC LIMIT ${limit + 1}`,
  )} ORDER BY id DESC LIMIT ${limit + 1}`.execute(db)
  const shown = rows.slice(0, limit)
  const page: Page<StoredEntry> = { items: shown.map(entryOf) }
  const last = shown.at(-1)
  if (rows.length <= limit || last === undefined) return page
  const number = shown.findLast((row) => row.number !== null)?.number ?? before?.number
  return { ...page, nextCursor: cursorAt(`${last.id}.${number ?? noNumber}`) }
}

/** Above every number. */
const noNumber = Number.MAX_SAFE_INTEGER

/** Credits, adjustments and refunds, newest first: what people and codes booked, not calls. */
export async function listEntriesByHand(
  db: Kysely<Schema>,
  accountId: string,
  { limit, cursor }: PageQuery,
): Promise<Page<StoredEntry>> {
  const before = cursor === undefined ? undefined : placeIn(cursor)
  const { rows } = await sql<EntryRow>`
    ${selectEntries} AND e.account_id = ${accountId} AND e.kind IN ('credit', 'adjust')
    ${before === undefined ? sql`` : sql`AND (e.at_ms, e.id) < (${before.atMs}, ${before.id})`}
    ORDER BY e.at_ms DESC, e.id DESC LIMIT ${limit + 1}`.execute(db)
  return pageOf(rows, limit, (row) => `${row.at_ms}.${row.id}`, entryOf)
}

function placeIn(cursor: string): { atMs: number; id: number } {
  const [, atMs, id] = /^(\d{1,15})\.(\d{1,15})$/.exec(textCursor(cursor)) ?? []
  if (id === undefined) throw new BadCursor('unknown cursor')
  return { atMs: Number(atMs), id: Number(id) }
}

/** Where a page ends: its last id, and the lowest number of a call so far. */
function pointIn(cursor: string): { id: number; number: number } {
  const [, id, number] = /^(\d{1,15})(?:\.(\d{1,16}))?$/.exec(textCursor(cursor)) ?? []
  if (id === undefined) throw new BadCursor('unknown cursor')
  return { id: Number(id), number: number === undefined ? noNumber : Number(number) }
}

/** Entries of an account over a period, without holds and releases, in booking order. */
export async function findEntriesBetween(
  db: Kysely<Schema>,
  { accountId, fromMs, untilMs }: { accountId: string; fromMs: number; untilMs: number },
  { afterNumber, limit }: { afterNumber: number; limit: number },
): Promise<(StoredEntry & { number: number })[]> {
  const { rows } = await sql<EntryRow & { number: number }>`${bothOf(
    sql`${selectReceipts} AND c.account_id = ${accountId} AND c.number > ${afterNumber}
      AND e.at_ms >= ${fromMs} AND e.at_ms < ${untilMs} ORDER BY c.number LIMIT ${limit}`,
    sql`${selectCalls} AND r.account_id = ${accountId} AND r.number > ${afterNumber}
      AND r.booked_at_ms >= ${fromMs} AND r.booked_at_ms < ${untilMs}
      ORDER BY r.number LIMIT ${limit}`,
  )} ORDER BY number LIMIT ${limit}`.execute(db)
  return rows.map((row) => ({ ...entryOf(row), number: row.number }))
}

/** Every entry of one request, task or credit, in booking order, with the refunds of its charge. */
export async function findEntries(db: Kysely<Schema>, ref: string): Promise<StoredEntry[]> {
  const { rows } = await sql<EntryRow>`${bothOf(
    sql`${selectEntries} AND (e.ref = ${ref} OR e.refund_of = ${ref})`,
    sql`${selectCalls} AND r.request_id = ${ref}`,
  )} ORDER BY id`.execute(db)
  return rows.map(entryOf)
}

export async function findEntry(
  db: Kysely<Schema>,
  ref: string,
  kind: EntryKind,
): Promise<StoredEntry | undefined> {
  return (await findEntries(db, ref)).find((entry) => entry.kind === kind)
}

interface EntrySum {
  accountId: string
  entries: number
  /** Without holds and releases. */
  balanceNanos: bigint
  heldNanos: bigint
}

/** Sums of the entries per account, to compare with the account rows. */
export async function sumEntries(db: Kysely<Schema>): Promise<EntrySum[]> {
  // PostgreSQL sums bigint to numeric; the cast keeps the integer convention on both dialects.
  const { rows } = await sql<{
    account_id: string
    entries: number
    balance_nanos: bigint
    held_nanos: bigint
  }>`
    SELECT account_id, count(*) AS entries,
      CAST(sum(CASE WHEN kind IN ('hold', 'release') THEN 0 ELSE amount_nanos END) AS bigint)
        AS balance_nanos,
      CAST(-sum(CASE WHEN kind IN ('hold', 'release') THEN amount_nanos ELSE 0 END) AS bigint)
        AS held_nanos
    FROM ledger GROUP BY account_id ORDER BY account_id`.execute(db)
  return rows.map((row) => ({
    accountId: row.account_id,
    entries: row.entries,
    balanceNanos: row.balance_nanos,
    heldNanos: row.held_nanos,
  }))
}

type EntryRow = LedgerRow & { task_request_id?: string | null }

export function entryOf(row: EntryRow): StoredEntry {
  const entry: StoredEntry = {
    id: row.id,
    atMs: row.at_ms,
    accountId: row.account_id,
    kind: row.kind,
    amountNanos: row.amount_nanos,
    ref: row.ref,
  }
  if (row.model !== null) entry.model = row.model
  if (row.unit !== null) entry.unit = row.unit
  if (row.quantity !== null) entry.quantity = row.quantity
  if (row.price_id !== null) entry.priceId = row.price_id
  if (row.estimated === 1) entry.estimated = true
  if (row.note !== null) entry.note = row.note
  if (row.token_id !== null) entry.tokenId = row.token_id
  if (row.tier !== null) entry.tier = row.tier
  if (row.tags !== null) entry.tags = row.tags
  for (const { column, field } of chargeTexts) {
    const text = row[column]
    if (text !== null) entry[field] = text
  }
  if (row.task_request_id) entry.requestId = row.task_request_id
  return entry
}
