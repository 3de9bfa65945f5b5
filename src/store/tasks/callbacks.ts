// Callbacks about task ends: one row per task with a callback address, written with its end, and
// one row per attempt. A lease grants the right to send; a late holder may deliver twice, but no
// callback is lost. Knows neither the content nor the transport.
import { type Kysely, type Selectable, sql } from 'kysely'
import type { Dialect, Schema } from '../schema.ts'
import { latestBy } from '../sql/latest-by.ts'

type CallbackState = Schema['callbacks']['state']

export interface Callback {
  id: string
  taskId: string
  accountId: string
  url: string
  state: CallbackState
  /** Attempts since the last restart. */
  attempts: number
  nextAtMs: number
  createdAtMs: number
  endedAtMs?: number
}

export interface CallbackAttempt {
  atMs: number
  tookMs: number
  status?: number
  error?: string
}

/** State of a callback after an attempt. */
export type Fate =
  | { state: 'waiting'; nextAtMs: number }
  | { state: 'delivered' | 'exhausted'; endedAtMs: number }

// Literal as in the partial index: only then does a planner use it.
const waiting = sql.raw(`state = 'waiting'`)

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
      state: 'waiting',
      attempts: 0,
      next_at_ms: callback.createdAtMs,
      lease_owner: null,
      lease_until_ms: 0,
      created_at_ms: callback.createdAtMs,
      ended_at_ms: null,
    })
    .execute()
}

interface CallbackInput {
  owner: string
  /** Selects what is due by now. */
  nowMs: number
  untilMs: number
  /** Now by the clock of `untilMs`, if due times use another clock. */
  leaseClockMs?: number
  /** Maximum number of rows to read. */
  window: number
  /** Chooses among those. */
  choose: (due: readonly Callback[]) => readonly Callback[]
  /** Origins, and accounts, that are at their limit. */
  fullOrigins: readonly string[]
  fullAccounts: readonly string[]
}

/** Maximum lease: one that ends later was taken before the clock was set back. */
const maxLeaseMs = 60_000
/** Clocks of gateways differ by much less. */
const slackMs = 5_000

/**
 * Callbacks that were postponed under a clock that has been set back since: due later than the
 * maximum delay for their number of attempts. They become due at once.
 */
export async function wakeStrandedCallbacks(
  tx: Kysely<Schema>,
  nowMs: number,
  maxMs: readonly number[],
): Promise<void> {
  await sql`
    UPDATE callbacks SET next_at_ms = ${nowMs}
    WHERE ${waiting} AND next_at_ms > ${nowMs + slackMs}
      AND next_at_ms > ${latestBy(nowMs + slackMs, 'attempts', maxMs)}`.execute(tx)
}

/** Not leased, by the time of this clock. */
const freeAt = (clockMs: number) =>
  sql`(lease_until_ms <= ${clockMs} OR lease_until_ms > ${clockMs + maxLeaseMs})`

/** Leases due callbacks until `untilMs`, oldest first. */
export async function leaseDueCallbacks(
  tx: Kysely<Schema>,
  dialect: Dialect,
  input: CallbackInput,
): Promise<Callback[]> {
  const { owner, nowMs, leaseClockMs = nowMs, untilMs, window } = input
  const due = sql`${waiting} AND next_at_ms <= ${nowMs} AND ${freeAt(leaseClockMs)}`
  const others = [
    ...input.fullOrigins.map((start) => sql`AND substr(url, 1, ${start.length}) <> ${start}`),
    ...input.fullAccounts.map((id) => sql`AND account_id <> ${id}`),
  ]
  const found = await sql<Row>`
    SELECT * FROM callbacks WHERE ${due} ${sql.join(others, sql` `)}
    ORDER BY next_at_ms LIMIT ${window}`.execute(tx)
  const chosen = input.choose(found.rows.map(shape)).map(({ id }) => id)
  if (chosen.length === 0) return []
  const free = sql`SELECT id FROM callbacks WHERE id IN (${sql.join(chosen)}) AND ${due}`
  // Rows that another gateway is taking at this moment are skipped.
  const taken = dialect === 'postgres' ? sql`${free} FOR UPDATE SKIP LOCKED` : free
  const { rows } = await sql<Row>`
    UPDATE callbacks SET lease_owner = ${owner}, lease_until_ms = ${untilMs}
    WHERE id IN (${taken}) RETURNING *`.execute(tx)
  return rows.map(shape)
}

/** When the next unleased one is due; undefined when there is none. */
export async function nextCallbackMs(
  db: Kysely<Schema>,
  leaseClockMs: number,
): Promise<number | undefined> {
  const { rows } = await sql<{ next_at_ms: number }>`
    SELECT next_at_ms FROM callbacks WHERE ${waiting} AND ${freeAt(leaseClockMs)}
    ORDER BY next_at_ms LIMIT 1`.execute(db)
  return rows[0]?.next_at_ms
}

/**
 * Adds an attempt. A delivery counts whichever gateway made it; only the lease holder schedules the
 * next attempt.
 */
export async function recordAttempt(
  tx: Kysely<Schema>,
  dialect: Dialect,
  id: string,
  owner: string,
  attempt: CallbackAttempt,
  fateAfter: (attempts: number) => Fate,
): Promise<void> {
  let found = tx.selectFrom('callbacks').selectAll().where('id', '=', id)
  if (dialect === 'postgres') found = found.forUpdate()
  const row = await found.executeTakeFirst()
  if (row === undefined) return
  await insertAttempt(tx, id, attempt)
  const attempts = row.attempts + 1
  const fate = fateAfter(attempts)
  const isOurs = row.lease_owner === owner && row.state === 'waiting'
  if (!isOurs && fate.state !== 'delivered') return
  await tx
    .updateTable('callbacks')
    .set({
      state: fate.state,
      attempts,
      next_at_ms: 'nextAtMs' in fate ? fate.nextAtMs : row.next_at_ms,
      ended_at_ms: 'endedAtMs' in fate ? fate.endedAtMs : null,
      lease_owner: null,
      lease_until_ms: 0,
    })
    .where('id', '=', id)
    .execute()
}

/** Numbers continue across restarts. */
async function insertAttempt(
  tx: Kysely<Schema>,
  id: string,
  { atMs, tookMs, status, error }: CallbackAttempt,
): Promise<void> {
  const last = await tx
    .selectFrom('callback_attempts')
    .select('number')
    .where('callback_id', '=', id)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  await tx
    .insertInto('callback_attempts')
    .values({
      callback_id: id,
      number: (last?.number ?? 0) + 1,
      at_ms: atMs,
      took_ms: tookMs,
      status: status ?? null,
      error: error ?? null,
    })
    .execute()
}

/** Restarts it at once under the same id; returns its former state, undefined if it is unknown. */
export async function restartCallback(
  tx: Kysely<Schema>,
  dialect: Dialect,
  taskId: string,
  nowMs: number,
): Promise<CallbackState | undefined> {
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

/** Frees the callbacks of a dead owner; without one, of all owners. */
export async function freeCallbacks(tx: Kysely<Schema>, owner?: string): Promise<void> {
  const theirs = owner === undefined ? sql`IS NOT NULL` : sql`= ${owner}`
  await sql`
    UPDATE callbacks SET lease_until_ms = 0, lease_owner = NULL
    WHERE ${waiting} AND lease_owner ${theirs}`.execute(tx)
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

/** With the newest attempts, oldest first; one statement, so that they are consistent. */
export async function findCallbackStory(
  db: Kysely<Schema>,
  taskId: string,
  limit: number,
): Promise<{ callback: Callback; attempts: CallbackAttempt[] } | undefined> {
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

type Row = Selectable<Schema['callbacks']>

const shape = (row: Row): Callback => ({
  id: row.id,
  taskId: row.task_id,
  accountId: row.account_id,
  url: row.url,
  state: row.state,
  attempts: row.attempts,
  nextAtMs: row.next_at_ms,
  createdAtMs: row.created_at_ms,
  ...(row.ended_at_ms !== null && { endedAtMs: row.ended_at_ms }),
})
