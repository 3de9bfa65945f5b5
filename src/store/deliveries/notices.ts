// Notices and their deliveries, one for each subscription that wants their type. A notice is written
// in the transaction of what it tells of, so that both exist or neither.
import { type Kysely, type Selectable, type SqlBool, sql } from 'kysely'
import type { NoticeType } from '../../contract/notices/webhooks.ts'
import { newId } from '../../lib/crypto/ids.ts'
import type { Schema } from '../schema.ts'
import { BadCursor, type Page, type PageQuery, pageOf, textCursor } from '../sql/cursor.ts'
import {
  type Attempt,
  type Delivery,
  type DeliveryQueue,
  type DeliveryState,
  deliveryIn,
  dueAt,
} from './queue.ts'
import { listWebhooks, type Webhook } from './webhooks.ts'

/** `test` is sent on request only. */
export interface Notice {
  id: string
  type: NoticeType | 'test'
  atMs: number
  data: object
}

interface NewNotice extends Omit<Notice, 'id'> {
  /** A notice with the same text has been told already: nothing is written. */
  once?: string
}

export interface NoticeDelivery extends Delivery {
  noticeId: string
  webhookId: string
}

export const noticeQueue: DeliveryQueue<NoticeDelivery> = {
  table: 'notice_deliveries',
  attempts: 'notice_attempts',
  attemptOf: 'delivery_id',
  owner: 'webhook_id',
  shape: (row: Selectable<Schema['notice_deliveries']>) => ({
    ...deliveryIn(row),
    noticeId: row.notice_id,
    webhookId: row.webhook_id,
  }),
  ownerOf: ({ webhookId }) => webhookId,
}

/** To every enabled subscription that wants it; without any, nothing is written. */
export async function notify(tx: Kysely<Schema>, notice: NewNotice): Promise<boolean> {
  const { type } = notice
  const all = await listWebhooks(tx)
  const to = all.filter(({ disabled, events }) => !disabled && events.includes(type as NoticeType))
  return to.length > 0 && (await notifyThese(tx, notice, to)) !== undefined
}

/** To these subscriptions; the id of the notice, undefined when it had been told. */
export async function notifyThese(
  tx: Kysely<Schema>,
  { type, atMs, data, once }: NewNotice,
  webhooks: readonly Pick<Webhook, 'id' | 'address'>[],
): Promise<string | undefined> {
  const id = newId('evt', atMs)
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('notices')
    .values({ id, type, at_ms: atMs, data: JSON.stringify(data), once: once ?? null })
    .onConflict((conflict) => conflict.column('once').doNothing())
    .executeTakeFirst()
  if (numInsertedOrUpdatedRows !== 1n) return undefined
  const rows = webhooks.map((webhook) => ({
    id: newId('dlv', atMs),
    notice_id: id,
    webhook_id: webhook.id,
    url: webhook.address,
    ...dueAt(atMs),
  }))
  await tx.insertInto('notice_deliveries').values(rows).execute()
  return id
}

export async function findNotice(db: Kysely<Schema>, id: string): Promise<Notice | undefined> {
  const row = await db.selectFrom('notices').selectAll().where('id', '=', id).executeTakeFirst()
  return row && noticeIn(row)
}

const noticeIn = (row: Omit<Selectable<Schema['notices']>, 'once'>): Notice => ({
  id: row.id,
  type: row.type as Notice['type'],
  atMs: row.at_ms,
  data: JSON.parse(row.data) as object,
})

export interface DeliveryStory {
  notice: Omit<Notice, 'data'>
  state: DeliveryState
  nextAtMs: number
  attempts: readonly Attempt[]
}

interface StoryFilter extends PageQuery {
  webhookId: string
  /** Of this notice only. */
  noticeId?: string
}

/** Deliveries of a subscription, newest first, with all their attempts. */
export async function listDeliveries(
  db: Kysely<Schema>,
  { webhookId, noticeId, limit, cursor }: StoryFilter,
): Promise<Page<DeliveryStory>> {
  let query = db
    .selectFrom('notice_deliveries as d')
    .innerJoin('notices as n', 'n.id', 'd.notice_id')
    .select(['d.id', 'd.notice_id', 'd.state', 'd.next_at_ms', 'd.created_at_ms'])
    .select(['n.type', 'n.at_ms'])
    .where('d.webhook_id', '=', webhookId)
  if (noticeId !== undefined) query = query.where('d.notice_id', '=', noticeId)
  if (cursor !== undefined) query = query.where(before(cursor))
  const rows = await query
    .orderBy('d.created_at_ms', 'desc')
    .orderBy('d.id', 'desc')
    .limit(limit + 1)
    .execute()
  const attempts = await attemptsOf(
    db,
    rows.slice(0, limit).map(({ id }) => id),
  )
  return pageOf(
    rows,
    limit,
    (row) => `${row.created_at_ms}.${row.id}`,
    (row) => ({
      notice: { id: row.notice_id, type: row.type as Notice['type'], atMs: row.at_ms },
      state: row.state,
      nextAtMs: row.next_at_ms,
      attempts: attempts.get(row.id) ?? [],
    }),
  )
}

function before(cursor: string) {
  const [, ms, id] = /^(\d{1,15})\.(.+)$/.exec(textCursor(cursor)) ?? []
  if (id === undefined) throw new BadCursor('unknown cursor')
  return sql<SqlBool>`(d.created_at_ms, d.id) < (${Number(ms)}, ${id})`
}

async function attemptsOf(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<Map<string, Attempt[]>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('notice_attempts')
    .selectAll()
    .where('delivery_id', 'in', ids)
    .orderBy('delivery_id')
    .orderBy('number')
    .execute()
  const made = new Map<string, Attempt[]>()
  for (const { delivery_id, at_ms: atMs, took_ms: tookMs, status, error } of rows) {
    const attempt = {
      ...{ atMs, tookMs },
      ...(status !== null && { status }),
      ...(error !== null && { error }),
    }
    made.set(delivery_id, [...(made.get(delivery_id) ?? []), attempt])
  }
  return made
}

/** Ends what has not been sent: the subscription is disabled. */
export async function dropWaiting(
  tx: Kysely<Schema>,
  webhookId: string,
  atMs: number,
): Promise<void> {
  await tx
    .updateTable('notice_deliveries')
    .set({ state: 'exhausted', ended_at_ms: atMs, lease_owner: null, lease_until_ms: 0 })
    .where('webhook_id', '=', webhookId)
    .where('state', '=', 'waiting')
    .execute()
}
