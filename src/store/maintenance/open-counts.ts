// Counts of open tasks, batches, callbacks and alerts. Read from the partial indexes of open rows, never
// from ended ones; bounded.
import { type Kysely, sql } from 'kysely'
import { liveBatchStates } from '../../contract/batches/index.ts'
import type { Schema } from '../schema.ts'
import { liveStates } from '../tasks/tasks.ts'

export interface OpenCounts {
  tasks: { interface: string; state: string; count: number }[]
  /** Undefined where there is none. */
  oldestTaskMs?: number
  /** When the next poll of a task that is not leased was or is due. */
  nextPollMs?: number
  batches: { state: string; count: number }[]
  callbacks: number
  nextCallbackMs?: number
  alerts: { kind: string; count: number }[]
}

/** Tasks above this number are not counted. */
const maxTasks = 50_000
const maxCallbacks = 50_000
const maxBatches = 50_000
const maxAlertKinds = 32

// Literal as in the partial indexes: only then does a planner use them.
const inStates = (states: readonly string[]) =>
  sql.raw(`state IN (${states.map((state) => `'${state}'`).join(', ')})`)
const live = inStates(liveStates)

export async function countOpen(db: Kysely<Schema>, nowMs: number): Promise<OpenCounts> {
  const tasks = await sql<{ interface: string; state: string; count: number; oldest: number }>`
    SELECT interface, state, count(*) AS count, min(created_at_ms) AS oldest FROM (
      SELECT interface, state, created_at_ms FROM tasks WHERE ${live}
      ORDER BY next_check_at_ms LIMIT ${sql.lit(maxTasks)}) AS open
    GROUP BY interface, state`.execute(db)
  const poll = await sql<{ at_ms: number }>`
    SELECT next_check_at_ms AS at_ms FROM tasks WHERE ${live} AND lease_until_ms <= ${nowMs}
    ORDER BY next_check_at_ms LIMIT 1`.execute(db)
  const callbacks = await sql<{ count: number; next_ms: number | null }>`
    SELECT count(*) AS count, min(next_at_ms) AS next_ms FROM (
      SELECT next_at_ms FROM callbacks WHERE state = 'waiting'
      ORDER BY next_at_ms LIMIT ${sql.lit(maxCallbacks)}) AS open`.execute(db)
  const batches = await sql<{ state: string; count: number }>`
    SELECT state, count(*) AS count FROM (
      SELECT state FROM batches WHERE ${inStates(liveBatchStates)}
      ORDER BY id LIMIT ${sql.lit(maxBatches)}) AS open
    GROUP BY state`.execute(db)
  const alerts = await sql<{ kind: string; count: number }>`
    SELECT kind, count(*) AS count FROM alerts WHERE resolved_at_ms IS NULL
    GROUP BY kind ORDER BY kind LIMIT ${sql.lit(maxAlertKinds)}`.execute(db)
  const oldest = tasks.rows.map((row) => Number(row.oldest))
  const waiting = callbacks.rows[0]
  return {
    tasks: tasks.rows.map((row) => ({ ...row, count: Number(row.count) })),
    ...(oldest.length > 0 && { oldestTaskMs: Math.min(...oldest) }),
    ...(poll.rows[0] !== undefined && { nextPollMs: Number(poll.rows[0].at_ms) }),
    batches: batches.rows.map(({ state, count }) => ({ state, count: Number(count) })),
    callbacks: Number(waiting?.count ?? 0),
    ...(waiting?.next_ms != null && { nextCallbackMs: Number(waiting.next_ms) }),
    alerts: alerts.rows.map(({ kind, count }) => ({ kind, count: Number(count) })),
  }
}
