// Requests that made a task, in the order of what the task was charged: a task is over long after the row of its request
// was written.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import { timeOfId } from './ids.ts'
import { matchingRows } from './matching.ts'
import type { Best, Place, SortedQuery } from './sorted-places.ts'
import { logHorizonMs } from './watermark.ts'

const tasksAtOnce = 512
/** Tasks read for one page; where few of them pass the filter, the page is short and has a next one. */
const maxTasks = 32_768
/** A task is made within this time after its request has come. */
const maxCreateMs = 3_600_000

export async function addTasks(db: Kysely<Schema>, query: SortedQuery, best: Best): Promise<void> {
  let { after } = best
  // Tasks stay when the rows of their requests go.
  const horizonMs = (await logHorizonMs(db)) - maxCreateMs
  for (let read = 0; read < maxTasks; read += tasksAtOnce) {
    const places = await nextTasks(db, query, horizonMs, after)
    const known = await requestsOf(db, query, places)
    for (const place of places) {
      if (known.has(place.task!.requestId) && !best.add(place)) return
    }
    if (places.length < tasksAtOnce) return
    after = places.at(-1)
  }
  best.endAt(after!)
}

async function nextTasks(
  db: Kysely<Schema>,
  { filter: { values, fromId, toId }, isRising }: SortedQuery,
  horizonMs: number,
  after: Place | undefined,
): Promise<Place[]> {
  const direction = isRising ? 'asc' : 'desc'
  let query = db
    .selectFrom('tasks')
    .select(['id', 'request_id', 'charge_nanos'])
    .orderBy('charge_nanos', direction)
    .orderBy('id', direction)
    .limit(tasksAtOnce)
  if (values.account !== undefined) query = query.where('account_id', '=', values.account)
  if (values.token !== undefined) query = query.where('token_id', '=', values.token)
  const [fromMs = 0, toMs] = [timeOfId(fromId ?? ''), timeOfId(toId ?? '')]
  const earliestMs = Math.max(fromMs, horizonMs)
  if (earliestMs > 0) query = query.where('created_at_ms', '>=', earliestMs)
  if (toMs !== undefined) query = query.where('created_at_ms', '<', toMs + maxCreateMs)
  if (after !== undefined) {
    const sign = isRising ? sql`>` : sql`<`
    const { figure, task } = after
    query = query.where(
      task === undefined
        ? sql<boolean>`charge_nanos ${sign}= ${figure}`
        : sql<boolean>`(charge_nanos, id) ${sign} (${figure}, ${task.id})`,
    )
  }
  const rows = await query.execute()
  return rows.map(({ id, request_id, charge_nanos }) => ({
    figure: Number(charge_nanos),
    seq: 0,
    task: { id, requestId: request_id },
  }))
}

/** Those whose rows are still there and pass the filter. */
async function requestsOf(
  db: Kysely<Schema>,
  { filter }: SortedQuery,
  places: readonly Place[],
): Promise<ReadonlySet<string>> {
  const ids = places.map(({ task }) => task!.requestId)
  if (ids.length === 0) return new Set()
  const rows = await matchingRows(db, filter)
    .clearSelect()
    .select('request_id')
    .where('request_id', 'in', ids)
    .execute()
  return new Set(rows.map(({ request_id }) => request_id))
}
