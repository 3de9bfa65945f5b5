// Tasks that were given up and are looked for now and then. Whoever takes one moves it on, so that
// no two gateways ask at once and nothing is lost with the one that asked.
import { type Kysely, sql } from 'kysely'
import type { Engine, Schema } from '../schema.ts'
import { latestBy } from '../sql/latest-by.ts'

export interface LateLook {
  taskId: string
  /** How often it was taken, this time included. */
  looks: number
}

export async function insertLateLook(
  tx: Kysely<Schema>,
  taskId: string,
  nextAtMs: number,
): Promise<void> {
  await tx
    .insertInto('late_looks')
    .values({ task_id: taskId, next_at_ms: nextAtMs, looks: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Gateways' clocks agree to much less. */
const slackMs = 5_000

/** Those that a clock set back since has put off for longer than is ever waited are due at once. */
export async function wakeStrandedLooks(
  tx: Kysely<Schema>,
  nowMs: number,
  longestMs: readonly number[],
): Promise<void> {
  await sql`
    UPDATE late_looks SET next_at_ms = ${nowMs}
    WHERE next_at_ms > ${latestBy(nowMs + slackMs, 'looks', longestMs)}`.execute(tx)
}

/** Those that are due, the oldest first; if nothing is heard of them, they are due again then. */
export async function takeLateLooks(
  tx: Kysely<Schema>,
  engine: Engine,
  { nowMs, againMs, limit }: { nowMs: number; againMs: number; limit: number },
): Promise<LateLook[]> {
  const locked = engine === 'postgres' ? sql`FOR UPDATE SKIP LOCKED` : sql``
  const { rows } = await sql<{ task_id: string; looks: number }>`
    UPDATE late_looks SET next_at_ms = ${againMs}, looks = looks + 1
    WHERE task_id IN (
      SELECT task_id FROM late_looks WHERE next_at_ms <= ${nowMs}
      ORDER BY next_at_ms LIMIT ${limit} ${locked}
    ) RETURNING task_id, looks`.execute(tx)
  return rows.map(({ task_id, looks }) => ({ taskId: task_id, looks }))
}

export async function putOffLateLook(
  tx: Kysely<Schema>,
  taskId: string,
  nextAtMs: number,
): Promise<void> {
  await tx
    .updateTable('late_looks')
    .set({ next_at_ms: nextAtMs })
    .where('task_id', '=', taskId)
    .execute()
}

export async function dropLateLook(tx: Kysely<Schema>, taskId: string): Promise<void> {
  await tx.deleteFrom('late_looks').where('task_id', '=', taskId).execute()
}

/** When the next one is due; undefined when there is none. */
export async function nextLateLookMs(db: Kysely<Schema>): Promise<number | undefined> {
  const row = await db
    .selectFrom('late_looks')
    .select('next_at_ms')
    .orderBy('next_at_ms')
    .limit(1)
    .executeTakeFirst()
  return row?.next_at_ms
}
