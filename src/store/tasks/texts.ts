// Texts of background responses: the request while the gateway has to send it, the answer until it expires.
// They are sealed before they get here.
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

export interface TaskText {
  taskId: string
  part: 'request' | 'answer'
  sealed: string
  expiresAtMs: number
}

export async function putTaskText(
  tx: Kysely<Schema>,
  { taskId, part, sealed, expiresAtMs }: TaskText,
): Promise<void> {
  const row = { task_id: taskId, part, sealed, expires_at_ms: expiresAtMs }
  await tx.insertInto('task_texts').values(row).execute()
}

/** Undefined once it has expired. */
export async function findTaskText(
  db: Kysely<Schema>,
  taskId: string,
  part: TaskText['part'],
  nowMs: number,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('task_texts')
    .select('sealed')
    .where('task_id', '=', taskId)
    .where('part', '=', part)
    .where('expires_at_ms', '>', nowMs)
    .executeTakeFirst()
  return row?.sealed
}

/** Without a part: all of them. */
export async function dropTaskText(
  tx: Kysely<Schema>,
  taskId: string,
  part?: TaskText['part'],
): Promise<void> {
  let query = tx.deleteFrom('task_texts').where('task_id', '=', taskId)
  if (part !== undefined) query = query.where('part', '=', part)
  await query.execute()
}

/** At most so many at once; how many there were. */
export async function dropExpiredTexts(
  tx: Kysely<Schema>,
  nowMs: number,
  limit: number,
): Promise<number> {
  const old = await tx
    .selectFrom('task_texts')
    .select(['task_id', 'part'])
    .where('expires_at_ms', '<=', nowMs)
    .orderBy('expires_at_ms')
    .limit(limit)
    .execute()
  for (const { task_id: id, part } of old) await dropTaskText(tx, id, part)
  return old.length
}
