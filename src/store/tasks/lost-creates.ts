// What must be known of other tasks before an interrupted create may claim an upstream id.
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** More open tasks in one channel are not distinguished. */
const maxOpen = 1_000

/** Those of these ids of a channel that belong to a task. */
export async function claimedIds(
  db: Kysely<Schema>,
  channelId: string,
  upstreamIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (upstreamIds.length === 0) return new Set()
  const rows = await db
    .selectFrom('tasks')
    .select('upstream_id')
    .where('channel_id', '=', channelId)
    .where('upstream_id', 'in', upstreamIds)
    .execute()
  return new Set(rows.map(({ upstream_id }) => upstream_id!))
}

/** Whether another task of the channel with the same prompt still lacks an upstream id. */
export async function hasTwin(
  db: Kysely<Schema>,
  { id, channelId, model, prompt }: TwinOf,
): Promise<boolean> {
  const rows = await db
    .selectFrom('tasks')
    .select('body')
    .where('state', 'in', ['accepted', 'unknown'])
    .where('channel_id', '=', channelId)
    .where('model', '=', model)
    .where('upstream_id', 'is', null)
    .where('id', '!=', id)
    .limit(maxOpen)
    .execute()
  return rows.length === maxOpen || rows.some(({ body }) => promptIn(body) === prompt)
}

interface TwinOf {
  id: string
  channelId: string
  model: string
  prompt: string
}

const promptIn = (body: string): string =>
  (JSON.parse(body) as { request: { prompt: string } }).request.prompt
