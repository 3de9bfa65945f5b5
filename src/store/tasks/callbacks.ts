// Callbacks about task ends: one row per task with a callback address, written with its end, and
// one row per attempt. How they are leased and retried is the queue's business.
import type { Kysely, Selectable } from 'kysely'
import {
  type Attempt,
  type Delivery,
  type DeliveryQueue,
  type DeliveryState,
  deliveryIn,
  dueAt,
} from '../deliveries/queue.ts'
import type { Dialect, Schema } from '../schema.ts'

export interface Callback extends Delivery {
  taskId: string
  accountId: string
}

const shape = (row: Selectable<Schema['callbacks']>): Callback => ({
  ...deliveryIn(row),
  taskId: row.task_id,
  accountId: row.account_id,
})

export const callbackQueue: DeliveryQueue<Callback> = {
  table: 'callbacks',
  attempts: 'callback_attempts',
  attemptOf: 'callback_id',
  owner: 'account_id',
  shape,
  ownerOf: ({ accountId }) => accountId,
}

/** Once per task. */
export async function insertCallback(
  tx: Kysely<Schema>,
  callback: Pick<Callback, 'id' | 'taskId' | 'accountId' | 'url' | 'createdAtMs'>,
): Promise<void> {
  await tx
    .insertInto('callbacks')
    .values({
      id: callback.id,
      task_id: callback.taskId,
      account_id: callback.accountId,
      url: callback.url,
      ...dueAt(callback.createdAtMs),
    })
    .execute()
}

/** Restarts it at once under the same id; returns its former state, undefined if it is unknown. */
export async function restartCallback(
  tx: Kysely<Schema>,
  dialect: Dialect,
  taskId: string,
  nowMs: number,
): Promise<DeliveryState | undefined> {
  let found = tx.selectFrom('callbacks').select('state').where('task_id', '=', taskId)
  if (dialect === 'postgres') found = found.forUpdate()
  const row = await found.executeTakeFirst()
  if (row === undefined) return undefined
  await tx
    .updateTable('callbacks')
    .set({ state: 'waiting', attempts: 0, next_at_ms: nowMs, ended_at_ms: null })
    .where('task_id', '=', taskId)
    .execute()
  return row.state
}

export async function findCallback(
  db: Kysely<Schema>,
  taskId: string,
): Promise<Callback | undefined> {
  const row = await db
    .selectFrom('callbacks')
    .selectAll()
    .where('task_id', '=', taskId)
    .executeTakeFirst()
  return row && shape(row)
}

/** States of the callbacks of these tasks; those that have none yet are left out. */
export async function callbackStates(
  db: Kysely<Schema>,
  taskIds: readonly string[],
): Promise<Map<string, DeliveryState>> {
  if (taskIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('callbacks')
    .select(['task_id', 'state'])
    .where('task_id', 'in', taskIds)
    .execute()
  return new Map(rows.map(({ task_id, state }) => [task_id, state]))
}

/** With the newest attempts, oldest first; one statement, so that they are consistent. */
export async function findCallbackStory(
  db: Kysely<Schema>,
  taskId: string,
  limit: number,
): Promise<{ callback: Callback; attempts: Attempt[] } | undefined> {
  const rows = await db
    .selectFrom('callbacks')
    .leftJoin('callback_attempts as tried', 'tried.callback_id', 'callbacks.id')
    .selectAll('callbacks')
    .select(['tried.at_ms', 'tried.took_ms', 'tried.status', 'tried.error'])
    .where('callbacks.task_id', '=', taskId)
    .orderBy('tried.number', 'desc')
    .limit(limit)
    .execute()
  const [first] = rows
  if (first === undefined) return undefined
  const attempts = rows.toReversed().flatMap(({ at_ms: atMs, took_ms: tookMs, status, error }) => {
    if (atMs === null || tookMs === null) return []
    return [{ atMs, tookMs, ...(status !== null && { status }), ...(error !== null && { error }) }]
  })
  return { callback: shape(first), attempts }
}
