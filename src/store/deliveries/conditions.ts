// Conditions that last: who reports one, and what the log and the tasks say of failures. A condition is
// told by the transaction that adds its first reporter, and is over with its last.
import { type Kysely, sql } from 'kysely'
import { firstId } from '../log/ids.ts'
import type { Schema } from '../schema.ts'
import { touchMeta } from '../sql/meta.ts'

export interface Condition {
  type: 'channel.down' | 'key.rejected' | 'task.failures' | 'error_rate'
  subject: string
  /** The gateway that sees it; empty where one sees for all. */
  reporter: string
}

const lockKey = 'notice_conditions'

/** True for the first reporter. */
export async function raiseCondition(
  tx: Kysely<Schema>,
  condition: Condition,
  atMs: number,
): Promise<boolean> {
  await touchMeta(tx, lockKey, '')
  const others = await reportersOf(tx, condition)
  await tx
    .insertInto('notice_states')
    .values({ ...condition, body: '', at_ms: atMs })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return others.length === 0
}

/** True when it was the last reporter, not counting those that are gone. */
export async function clearCondition(
  tx: Kysely<Schema>,
  { type, subject, reporter }: Condition,
  isGone: (reporter: string) => boolean,
): Promise<boolean> {
  await touchMeta(tx, lockKey, '')
  const all = await reportersOf(tx, { type, subject })
  const over = all.filter((each) => each === reporter || isGone(each))
  if (over.length === 0) return false
  await tx
    .deleteFrom('notice_states')
    .where('type', '=', type)
    .where('subject', '=', subject)
    .where('reporter', 'in', over)
    .execute()
  return over.length === all.length
}

async function reportersOf(
  db: Kysely<Schema>,
  { type, subject }: Pick<Condition, 'type' | 'subject'>,
): Promise<string[]> {
  const rows = await db
    .selectFrom('notice_states')
    .select('reporter')
    .where('type', '=', type)
    .where('subject', '=', subject)
    .execute()
  return rows.map(({ reporter }) => reporter)
}

export async function listConditions(
  db: Kysely<Schema>,
  type: Condition['type'],
): Promise<Condition[]> {
  const rows = await db
    .selectFrom('notice_states')
    .select(['subject', 'reporter'])
    .where('type', '=', type)
    .execute()
  return rows.map((row) => ({ type, ...row }))
}

interface FailureCount {
  failed: number
  total: number
}

/** Failed: by the gateway or an upstream, not by the caller. */
export async function countErrors(
  db: Kysely<Schema>,
  of: { model?: string; channel?: string },
  fromMs: number,
): Promise<FailureCount> {
  const [column, name] =
    of.model === undefined ? (['channel', of.channel] as const) : (['model', of.model] as const)
  const { rows } = await sql<FailureCount>`
    SELECT count(*) AS total, coalesce(sum(CASE WHEN status >= 500
      OR error_code = 'upstream_rate_limited' THEN 1 ELSE 0 END), 0) AS failed
    FROM requests WHERE request_id >= ${firstId(fromMs)} AND ${sql.ref(column)} = ${name}
  `.execute(db)
  const { failed, total } = rows[0]!
  return { failed: Number(failed), total: Number(total) }
}

interface TaskFailures extends FailureCount {
  model: string
  channel: string
}

/** Tasks that have ended since, by model and channel; they cannot be older than `bornMs`. */
export async function countTaskFailures(
  db: Kysely<Schema>,
  { fromMs, bornMs }: { fromMs: number; bornMs: number },
): Promise<TaskFailures[]> {
  const { rows } = await sql<TaskFailures>`
    SELECT model, channel, count(*) AS total,
      sum(CASE WHEN state = 'failed' THEN 1 ELSE 0 END) AS failed
    FROM tasks WHERE created_at_ms >= ${bornMs} AND finished_at_ms >= ${fromMs}
      AND state IN ('succeeded', 'failed')
    GROUP BY model, channel`.execute(db)
  return rows.map((row) => ({ ...row, total: Number(row.total), failed: Number(row.failed) }))
}
