// Rows of tasks. Updates are conditional ("set if still"): the loser of a race changes nothing.
// Searchable fields have a column; the rest is in `body`.
import { type Kysely, type Selectable, sql } from 'kysely'
import type { Interface, Protocol } from '../../contract/catalog.ts'
import { readTaskBody } from '../../contract/former-names.ts'
import { kindOf, type Task, type TaskState } from '../../contract/task.ts'
import type { Dialect, Schema } from '../schema.ts'

/** Those that have not ended. */
export const liveStates: readonly TaskState[] = ['accepted', 'unknown', 'queued', 'running']

/** A task under a lease; `fence` invalidates earlier holders. */
export interface LeasedTask {
  task: Task
  fence: number
}

/** False, and nothing changes, when the account already has a task with this external id. */
export async function insertTask(tx: Kysely<Schema>, task: Task): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('tasks')
    .values({
      id: task.id,
      account_id: task.accountId,
      token_id: task.tokenId,
      request_id: task.requestId,
      interface: task.interface,
      model: task.model,
      created_at_ms: task.createdAtMs,
      external_id: task.externalId ?? null,
      tags: task.tags ?? null,
      lease_owner: null,
      lease_until_ms: 0,
      fence: 0,
      ...changing(task),
      timeline: task.timeline ?? null,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'external_id'])
        .where('external_id', 'is not', null)
        .doNothing(),
    )
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** Releases the external id, so that the caller may use it for another task. */
export async function freeExternalId(tx: Kysely<Schema>, id: string): Promise<void> {
  await tx.updateTable('tasks').set({ external_id: null }).where('id', '=', id).execute()
}

/** Writes the task if its row is still in such a state; false when it has moved on. */
export async function updateTask(
  tx: Kysely<Schema>,
  task: Task,
  still: TaskState | readonly TaskState[],
  fence?: number,
): Promise<boolean> {
  const { timeline } = task
  let query = tx
    .updateTable('tasks')
    .set({
      ...changing(task),
      ...(timeline !== undefined && { timeline }),
      lease_until_ms: 0,
      lease_owner: null,
    })
    .where('id', '=', task.id)
    .where('state', 'in', typeof still === 'string' ? [still] : still)
  if (fence !== undefined) query = query.where('fence', '=', fence)
  const { numUpdatedRows } = await query.executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Updates only the timeline, after the end of a task. */
export async function putTimeline(tx: Kysely<Schema>, id: string, timeline: string): Promise<void> {
  await tx.updateTable('tasks').set({ timeline }).where('id', '=', id).execute()
}

/** What an upstream takes for work that was found after the end; undefined: not known. */
export async function addTaskCost(
  tx: Kysely<Schema>,
  id: string,
  costNanos: bigint | undefined,
): Promise<void> {
  const cost = costNanos === undefined ? null : sql<bigint>`cost_nanos + ${costNanos}`
  await tx.updateTable('tasks').set({ cost_nanos: cost }).where('id', '=', id).execute()
}

/** Updates only the media addresses of a task, while it is the same success. */
export async function putTaskMedia(tx: Kysely<Schema>, task: Task): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('tasks')
    .set({ body: changing(task).body })
    .where('id', '=', task.id)
    .where('state', '=', 'succeeded')
    .where('upstream_id', '=', task.upstreamId ?? '')
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** By the gateway's id, an upstream's or, within an account, the external id. */
export async function findTaskRow(
  db: Kysely<Schema>,
  anyId: string,
  accountId?: string,
): Promise<Task | undefined> {
  // PostgreSQL rejects such text, and no id contains it.
  if (anyId.includes('\0')) return undefined
  const columns = ['id', 'upstream_id', ...(accountId === undefined ? [] : ['external_id'])]
  for (const column of columns as ('id' | 'upstream_id' | 'external_id')[]) {
    let query = db.selectFrom('tasks').selectAll().where(column, '=', anyId)
    if (accountId !== undefined) query = query.where('account_id', '=', accountId)
    const row = await query.limit(1).executeTakeFirst()
    if (row !== undefined) return shape(row)
  }
  return undefined
}

/** The same by the gateway's id, for a transaction that changes what it has read. */
export async function lockTaskRow(
  tx: Kysely<Schema>,
  dialect: Dialect,
  id: string,
): Promise<Task | undefined> {
  const query = tx.selectFrom('tasks').selectAll().where('id', '=', id)
  const row = await (dialect === 'postgres' ? query.forUpdate() : query).executeTakeFirst()
  return row === undefined ? undefined : shape(row)
}

/** Those of these ids that exist. */
export async function findTaskRows(db: Kysely<Schema>, ids: readonly string[]): Promise<Task[]> {
  if (ids.length === 0) return []
  const rows = await db.selectFrom('tasks').select(listedColumns).where('id', 'in', ids).execute()
  return rows.map(shape)
}

/** The columns that may change, with their current values. */
export function changing(task: Task) {
  const { upstreamModel, keyFingerprint, request, media, usage, reported, error, misses } = task
  const { missingSinceMs, callbackUrl, awaitedBy, ephemeral, trace, servedModel } = task
  return {
    protocol: task.protocol,
    channel_id: task.channelId,
    channel: task.channel,
    upstream_id: task.upstreamId ?? null,
    state: task.state,
    progress: task.progress,
    hold_nanos: task.holdNanos,
    charge_nanos: task.chargeNanos,
    cost_nanos: task.costNanos ?? null,
    price_id: task.priceId,
    updated_at_ms: task.updatedAtMs,
    started_at_ms: task.startedAtMs ?? null,
    finished_at_ms: task.finishedAtMs ?? null,
    next_check_at_ms: task.nextCheckAtMs,
    checks: task.checks,
    hidden: task.hidden ? 1 : 0,
    upstream_model: upstreamModel,
    body: JSON.stringify({
      upstreamModel,
      keyFingerprint,
      request,
      media,
      usage,
      reported,
      error,
      misses,
      missingSinceMs,
      callbackUrl,
      awaitedBy,
      ephemeral,
      trace,
      servedModel,
    }),
  }
}

type Body = Pick<
  Task,
  | 'upstreamModel'
  | 'keyFingerprint'
  | 'request'
  | 'media'
  | 'usage'
  | 'reported'
  | 'error'
  | 'misses'
  | 'missingSinceMs'
  | 'callbackUrl'
  | 'awaitedBy'
  | 'ephemeral'
  | 'trace'
  | 'servedModel'
>

type Row = Selectable<Schema['tasks']>

/** The columns that a list shows; the timeline is read with a single task only. */
export const listedColumns = [
  'id',
  'account_id',
  'token_id',
  'request_id',
  'interface',
  'model',
  'protocol',
  'channel_id',
  'channel',
  'upstream_id',
  'state',
  'progress',
  'hold_nanos',
  'charge_nanos',
  'cost_nanos',
  'price_id',
  'created_at_ms',
  'updated_at_ms',
  'started_at_ms',
  'finished_at_ms',
  'next_check_at_ms',
  'checks',
  'hidden',
  'body',
  'external_id',
  'tags',
] as const

export function shape(row: Pick<Row, (typeof listedColumns)[number]> & Partial<Row>): Task {
  const use = row.interface as Interface
  // The id says which kind of request the body contains.
  return {
    ...readTaskBody<Body>(row.body),
    kind: kindOf(row.id),
    id: row.id,
    accountId: row.account_id,
    tokenId: row.token_id,
    requestId: row.request_id,
    interface: use,
    model: row.model,
    protocol: row.protocol as Protocol,
    channelId: row.channel_id,
    channel: row.channel,
    ...(row.upstream_id !== null && { upstreamId: row.upstream_id }),
    state: row.state,
    progress: row.progress,
    holdNanos: row.hold_nanos,
    chargeNanos: row.charge_nanos,
    ...(row.cost_nanos !== null && { costNanos: row.cost_nanos }),
    priceId: row.price_id,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    ...(row.started_at_ms !== null && { startedAtMs: row.started_at_ms }),
    ...(row.finished_at_ms !== null && { finishedAtMs: row.finished_at_ms }),
    nextCheckAtMs: row.next_check_at_ms,
    checks: row.checks,
    hidden: row.hidden === 1,
    ...(row.external_id !== null && { externalId: row.external_id }),
    ...(row.tags !== null && { tags: row.tags }),
    ...(typeof row.timeline === 'string' && { timeline: row.timeline }),
  } as Task
}
