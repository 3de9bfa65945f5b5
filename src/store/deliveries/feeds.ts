// Reads the ledger and the losses in the order of writing, for notices: where each reader is, how far
// it may read, and the rows in between. A reader moves with what it has written, in one transaction.
import { type Kysely, sql } from 'kysely'
import type { NoticeType } from '../../contract/notices/webhooks.ts'
import { newestId } from '../rows/ledger-rows.ts'
import type { Dialect, Schema } from '../schema.ts'
import { getMeta, putMetaIfAbsent, touchMeta } from '../sql/meta.ts'
import { resetBudgetStates } from './budget-states.ts'
import { type FeedRange, resetLowStates } from './low-balances.ts'
import { listWebhooks } from './webhooks.ts'

/** Each reader by the type of notice that it makes. */
export const feeds = [
  'balance.low',
  'budget.reached',
  'charge.settled',
  'loss.booked',
] as const satisfies NoticeType[]
export type Feed = (typeof feeds)[number]

const keyOf = (feed: Feed): string => `notices_after ${feed}`
const lockKey = 'notice_feeds'

/**
 * After a change of subscriptions, in its transaction: a reader that is wanted now begins with what is
 * written from here on, and one that is no longer wanted forgets where it was.
 */
export async function syncFeeds(tx: Kysely<Schema>): Promise<void> {
  await touchMeta(tx, lockKey, '')
  const enabled = (await listWebhooks(tx)).filter(({ disabled }) => !disabled)
  const end = await newest(tx)
  for (const feed of feeds) {
    const isWanted = enabled.some(({ events }) => events.includes(feed))
    const isKnown = (await getMeta(tx, keyOf(feed))) !== undefined
    if (isWanted && !isKnown) {
      const id = feed === 'loss.booked' ? end.lossSeq : end.entryId
      await putMetaIfAbsent(tx, keyOf(feed), String(id))
      if (feed === 'balance.low') await resetLowStates(tx)
      if (feed === 'budget.reached') await resetBudgetStates(tx, id)
    } else if (!isWanted && isKnown) {
      await tx.deleteFrom('meta').where('key', '=', keyOf(feed)).execute()
    }
  }
}

/** Undefined: it is not wanted. */
export async function readFeed(db: Kysely<Schema>, feed: Feed): Promise<number | undefined> {
  const at = await getMeta(db, keyOf(feed))
  return at === undefined ? undefined : Number(at)
}

/** False when another gateway has moved it meanwhile: the transaction must change nothing. */
export async function moveFeed(
  tx: Kysely<Schema>,
  feed: Feed,
  { from, to }: { from: number; to: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('meta')
    .set({ value: String(to) })
    .where('key', '=', keyOf(feed))
    .where('value', '=', String(from))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** The newest rows, and on PostgreSQL the transactions of that moment. */
export interface FeedEnd {
  entryId: number
  lossSeq: number
  /** The oldest transaction that may still write. */
  oldestOpen: bigint
  /** The first that had not begun. */
  nextNew: bigint
}

export async function readFeedEnd(db: Kysely<Schema>, dialect: Dialect): Promise<FeedEnd> {
  if (dialect === 'sqlite') return { ...(await newest(db)), oldestOpen: 0n, nextNew: 0n }
  const { rows } = await sql<{ oldest: string; next: string; entry_id: number; loss: number }>`
    SELECT CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS oldest,
      CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS next,
      ${newestId} AS entry_id,
      coalesce((SELECT max(seq) FROM losses), 0) AS loss`.execute(db)
  const { oldest, next, entry_id: entryId, loss: lossSeq } = rows[0]!
  return { entryId, lossSeq, oldestOpen: BigInt(oldest), nextNew: BigInt(next) }
}

async function newest(db: Kysely<Schema>): Promise<{ entryId: number; lossSeq: number }> {
  const { rows } = await sql<{ entry_id: number; loss: number }>`
    SELECT ${newestId} AS entry_id,
      coalesce((SELECT max(seq) FROM losses), 0) AS loss`.execute(db)
  return { entryId: rows[0]!.entry_id, lossSeq: rows[0]!.loss }
}

export interface LossRow {
  seq: number
  account: string
  ref: string
  amountNanos: bigint
}

export async function lossesIn(
  db: Kysely<Schema>,
  { afterId, untilId, limit }: FeedRange,
): Promise<LossRow[]> {
  const rows = await db
    .selectFrom('losses')
    .innerJoin('accounts', 'accounts.id', 'losses.account_id')
    .select(['losses.seq', 'accounts.name', 'losses.ref', 'losses.amount_nanos'])
    .where('losses.seq', '>', afterId)
    .where('losses.seq', '<=', untilId)
    .orderBy('losses.seq')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    seq: row.seq,
    account: row.name,
    ref: row.ref,
    amountNanos: row.amount_nanos,
  }))
}
