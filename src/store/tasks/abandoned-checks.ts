// Abandoned tasks that are checked at intervals. Taking one postpones it, so that no two gateways
// poll it at once and nothing is lost when a gateway dies.
import { type Kysely, sql } from 'kysely'
import type { Dialect, Schema } from '../schema.ts'
import { latestBy } from '../sql/latest-by.ts'

export interface AbandonedCheck {
  taskId: string
  /** How often it was taken, this time included. */
  polls: number
}

export async function insertAbandonedCheck(
  tx: Kysely<Schema>,
  taskId: string,
  nextAtMs: number,
): Promise<void> {
  await tx
    .insertInto('abandoned_checks')
    .values({ task_id: taskId, next_at_ms: nextAtMs, polls: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Clocks of gateways differ by much less. */
const slackMs = 5_000

/** Checks that were postponed beyond the maximum delay, by a clock set back since, become due. */
export async function wakeStrandedPolls(
  tx: Kysely<Schema>,
  nowMs: number,
  maxMs: readonly number[],
): Promise<void> {
  await sql`
    UPDATE abandoned_checks SET next_at_ms = ${nowMs}
    WHERE next_at_ms > ${latestBy(nowMs + slackMs, 'polls', maxMs)}`.execute(tx)
}

/** Takes due checks, oldest first; without a result, they are due again at the given time. */
export async function takeAbandonedChecks(
  tx: Kysely<Schema>,
  dialect: Dialect,
  { nowMs, againMs, limit }: { nowMs: number; againMs: number; limit: number },
): Promise<AbandonedCheck[]> {
  const locked = dialect === 'postgres' ? sql`FOR UPDATE SKIP LOCKED` : sql``
  const { rows } = await sql<{ task_id: string; polls: number }>`
    UPDATE abandoned_checks SET next_at_ms = ${againMs}, polls = polls + 1
    WHERE task_id IN (
      SELECT task_id FROM abandoned_checks WHERE next_at_ms <= ${nowMs}
      ORDER BY next_at_ms LIMIT ${limit} ${locked}
    ) RETURNING task_id, polls`.execute(tx)
  return rows.map(({ task_id, polls }) => ({ taskId: task_id, polls }))
}

export async function putOffAbandonedCheck(
  tx: Kysely<Schema>,
  taskId: string,
  nextAtMs: number,
): Promise<void> {
  await tx
    .updateTable('abandoned_checks')
    .set({ next_at_ms: nextAtMs })
    .where('task_id', '=', taskId)
    .execute()
}

export async function dropAbandonedCheck(tx: Kysely<Schema>, taskId: string): Promise<void> {
  await tx.deleteFrom('abandoned_checks').where('task_id', '=', taskId).execute()
}

/** When the next one is due; undefined when there is none. */
export async function nextAbandonedCheckMs(db: Kysely<Schema>): Promise<number | undefined> {
  const row = await db
    .selectFrom('abandoned_checks')
    .select('next_at_ms')
    .orderBy('next_at_ms')
    .limit(1)
    .executeTakeFirst()
  return row?.next_at_ms
}
