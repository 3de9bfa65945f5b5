// Outcomes of the tasks of the last hours, and durations of those that succeeded. Counted in the
// index; only timed tasks are read, a bounded number.
import { type Kysely, sql } from 'kysely'
import type { TaskState } from '../../contract/task.ts'
import type { Schema } from '../schema.ts'
import type { TaskFilter } from './list-tasks.ts'

interface SumQuery extends Pick<TaskFilter, 'accountId' | 'model' | 'channel' | 'interface'> {
  fromMs: number
  slotMs: number
}

export interface TaskSums {
  slots: { atMs: number; state: TaskState; count: number }[]
  durations: { model: string; tookMs: number }[]
  /** Older tasks were not counted: there are too many. */
  sinceMs: number
}

/** Newest tasks that are counted, and of those the newest that are timed. */
const maxCounted = 50_000
const maxTimed = 2_000

export async function sumTasks(db: Kysely<Schema>, query: SumQuery): Promise<TaskSums> {
  const { fromMs, slotMs, accountId } = query
  const polled = sql`(
    SELECT created_at_ms, id, model, state, channel, interface FROM tasks
    WHERE created_at_ms >= ${fromMs}
      ${accountId === undefined ? sql`` : sql`AND account_id = ${accountId}`}
    ORDER BY created_at_ms DESC, id DESC LIMIT ${sql.lit(maxCounted)}) AS looked`
  const wanted = (['model', 'channel', 'interface'] as const).flatMap((name) =>
    query[name] === undefined ? [] : [sql`AND ${sql.ref(name)} = ${query[name]}`],
  )
  const also = sql.join(wanted, sql` `)
  const slots = await sql<{ slot: number; state: TaskState; count: number }>`
    SELECT (created_at_ms - ${fromMs}) / ${sql.lit(slotMs)} AS slot, state, count(*) AS count
    FROM ${polled} WHERE 1 = 1 ${also} GROUP BY 1, 2 ORDER BY 1, 2`.execute(db)
  const timed = await sql<{ model: string; took_ms: number }>`
    SELECT model, finished_at_ms - created_at_ms AS took_ms FROM tasks WHERE id IN (
      SELECT id FROM ${polled} WHERE state = 'succeeded' ${also} LIMIT ${sql.lit(maxTimed)})
    AND finished_at_ms IS NOT NULL`.execute(db)
  const cut = await sql<{ created_at_ms: number }>`
    SELECT created_at_ms FROM tasks WHERE created_at_ms >= ${fromMs}
      ${accountId === undefined ? sql`` : sql`AND account_id = ${accountId}`}
    ORDER BY created_at_ms DESC, id DESC LIMIT 1 OFFSET ${sql.lit(maxCounted - 1)}`.execute(db)
  return {
    slots: slots.rows.map(({ slot, state, count }) => ({
      atMs: fromMs + Math.floor(Number(slot)) * slotMs,
      state,
      count: Number(count),
    })),
    durations: timed.rows.map(({ model, took_ms }) => ({ model, tookMs: took_ms })),
    sinceMs: cut.rows[0]?.created_at_ms ?? fromMs,
  }
}
