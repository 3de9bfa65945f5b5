// The ledger: entries are added once and never changed, and the account's balance and held amount
// move in the same transaction. The hot path books its charges in the dialects' batch writers.
import { type Kysely, type Selectable, sql } from 'kysely'
import type { Entry, EntryKind } from '../../contract/ledger.ts'
import { ensure } from '../../lib/ensure.ts'
import type { Schema } from '../schema.ts'
import { numberCursor, type Page, type PageQuery, pageOf } from '../sql/cursor.ts'

export interface StoredEntry extends Entry {
  id: number
}

/**
 * False, and nothing changes, when an entry with the same ref and kind exists. The account's row is
 * locked first and gives the end of its closed months. An entry before that end is booked at the
 * first moment after it.
 */
export async function appendEntry(tx: Kysely<Schema>, entry: Entry): Promise<boolean> {
  const closedUntilMs = await moveBalance(tx, entry, entry.amountNanos)
  const inserted = await tx
    .insertInto('entries')
    .values({
      at_ms: Math.max(entry.atMs, closedUntilMs),
      account_id: entry.accountId,
      kind: entry.kind,
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
      served_model: entry.servedModel ?? null,
    })
    .onConflict((conflict) => conflict.columns(['ref', 'kind']).doNothing())
    .executeTakeFirst()
  if (inserted.numInsertedOrUpdatedRows === 1n) return true
  await moveBalance(tx, entry, -entry.amountNanos)
  return false
}

/** Returns the end of the account's closed months. */
async function moveBalance(
  tx: Kysely<Schema>,
  { accountId, kind, ref }: Entry,
  nanos: bigint,
): Promise<number> {
  const held = kind === 'hold' || kind === 'release'
  const account = await tx
    .updateTable('accounts')
    .set((e) =>
      held
        ? { held_nanos: e('held_nanos', '-', nanos) }
        : { balance_nanos: e('balance_nanos', '+', nanos) },
    )
    .where('id', '=', accountId)
    .returning('closed_until_ms')
    .executeTakeFirst()
  ensure(account !== undefined, `entry ${ref} is for an account that exists`)
  return account.closed_until_ms
}

/** Entries of a task refer to its id; people search by the request that created it. */
const requestOfTask = sql<
  string | null
>`(SELECT t.request_id FROM tasks t WHERE t.id = entries.ref)`.as('task_request_id')

/** Newest first. */
export async function listEntries(
  db: Kysely<Schema>,
  accountId: string,
  { limit, cursor }: PageQuery,
): Promise<Page<StoredEntry>> {
  let query = db
    .selectFrom('entries')
    .selectAll()
    .select(requestOfTask)
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (cursor !== undefined) query = query.where('id', '<', numberCursor(cursor))
  return pageOf(await query.execute(), limit, (row) => row.id, entryOf)
}

/** Entries of an account over a period, without holds and releases, in booking order. */
export async function findEntriesBetween(
  db: Kysely<Schema>,
  { accountId, fromMs, untilMs }: { accountId: string; fromMs: number; untilMs: number },
  { afterId, limit }: { afterId: number; limit: number },
): Promise<StoredEntry[]> {
  const rows = await db
    .selectFrom('entries')
    .selectAll()
    .select(requestOfTask)
    .where('account_id', '=', accountId)
    .where('id', '>', afterId)
    .where('at_ms', '>=', fromMs)
    .where('at_ms', '<', untilMs)
    .where('kind', 'not in', ['hold', 'release'])
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(entryOf)
}

/** Every entry of one request, task or credit, in booking order. */
export async function findEntries(db: Kysely<Schema>, ref: string): Promise<StoredEntry[]> {
  const rows = await db
    .selectFrom('entries')
    .selectAll()
    .select(requestOfTask)
    .where('ref', '=', ref)
    .orderBy('id')
    .execute()
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
    FROM entries GROUP BY account_id ORDER BY account_id`.execute(db)
  return rows.map((row) => ({
    accountId: row.account_id,
    entries: row.entries,
    balanceNanos: row.balance_nanos,
    heldNanos: row.held_nanos,
  }))
}

export type EntryRow = Selectable<Schema['entries']> & { task_request_id?: string | null }

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
  if (row.served_model !== null) entry.servedModel = row.served_model
  if (row.task_request_id) entry.requestId = row.task_request_id
  return entry
}
