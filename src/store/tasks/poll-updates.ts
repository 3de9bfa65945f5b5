// Writes polls that did not end their task: many in one statement, each only while its fence is
// valid.
import { type Kysely, sql } from 'kysely'
import type { Task, TaskState } from '../../contract/task.ts'
import type { Dialect, Schema } from '../schema.ts'
import { listed } from '../sql/json-rows.ts'
import { changing } from './tasks.ts'

/** The columns that a poll without an end changes. */
export interface Poll {
  task: Task
  still: TaskState
  fence: number
  /** The task as it was leased, if known: unchanged columns are not written again. */
  before?: Task | undefined
}

const pollColumns = {
  id: 'text',
  fence: 'int',
  still: 'text',
  state: 'text',
  progress: 'int',
  updated_at_ms: 'int',
  started_at_ms: 'int',
  next_check_at_ms: 'int',
  checks: 'int',
  body: 'text',
  timeline: 'text',
} as const

/** True when nothing changed outside the columns that `savePolls` writes. */
export const isPlainPoll = ({ task, before }: Poll): boolean =>
  before !== undefined &&
  task.upstreamId === before.upstreamId &&
  task.channelId === before.channelId &&
  task.upstreamModel === before.upstreamModel &&
  task.priceId === before.priceId &&
  task.holdNanos === before.holdNanos &&
  task.chargeNanos === before.chargeNanos &&
  task.finishedAtMs === before.finishedAtMs &&
  task.hidden === before.hidden

/** Writes many polls at once, each only if its fence holds and its task is in the same state. */
export async function savePolls(
  tx: Kysely<Schema>,
  dialect: Dialect,
  polls: readonly Poll[],
): Promise<Set<string>> {
  const given = listed(
    dialect,
    pollColumns,
    polls.map(({ task, still, fence, before }) => {
      const row = changing(task)
      const isSame = before !== undefined && changing(before).body === row.body
      const { id, timeline = null } = task
      return { ...row, id, fence, still, timeline, body: isSame ? null : row.body }
    }),
  )
  const { rows } = await sql<{ id: string }>`
    UPDATE tasks SET state = given.state, progress = given.progress, updated_at_ms = given.updated_at_ms,
      started_at_ms = given.started_at_ms, next_check_at_ms = given.next_check_at_ms, checks = given.checks,
      body = coalesce(given.body, tasks.body), timeline = coalesce(given.timeline, tasks.timeline),
      lease_until_ms = 0, lease_owner = NULL
    FROM ${given}
    WHERE tasks.id = given.id AND tasks.fence = given.fence AND tasks.state = given.still
    RETURNING tasks.id`.execute(tx)
  return new Set(rows.map(({ id }) => id))
}
