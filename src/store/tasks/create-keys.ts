// Idempotency keys of creates, each with the task or batch it created. A row exists if and only if that
// does; the response is not stored, as the task or batch provides it.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'

export interface CreateName {
  accountId: string
  path: string
  key: string
}

export interface CreateRow extends CreateName {
  fingerprint: string
  /** Of the task or batch. */
  taskId: string
  createdAtMs: number
}

/** False, and nothing changes, when the key is taken. Keys older than `sinceMs` are free. */
export async function insertCreate(
  tx: Kysely<Schema>,
  row: CreateRow,
  sinceMs: number,
): Promise<boolean> {
  const { accountId, path, key, fingerprint, taskId, createdAtMs } = row
  const values = { fingerprint, task_id: taskId, created_at_ms: createdAtMs }
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('idempotency_keys')
    .values({ account_id: accountId, path, key, ...values })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'path', 'key'])
        .doUpdateSet(values)
        .where('idempotency_keys.created_at_ms', '<', sinceMs),
    )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

export async function findCreate(
  db: Kysely<Schema>,
  { accountId, path, key }: CreateName,
  sinceMs: number,
): Promise<CreateRow | undefined> {
  const row = await db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('path', '=', path)
    .where('key', '=', key)
    .where('created_at_ms', '>=', sinceMs)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { fingerprint, task_id: taskId, created_at_ms: createdAtMs } = row
  return { accountId, path, key, fingerprint, taskId, createdAtMs }
}

/** Frees the key if it still belongs to that task. */
export async function dropCreate(
  tx: Kysely<Schema>,
  { accountId, path, key }: CreateName,
  taskId: string,
): Promise<void> {
  await tx
    .deleteFrom('idempotency_keys')
    .where((e) => e.and({ account_id: accountId, path, key, task_id: taskId }))
    .execute()
}

/** Deletes up to `limit` keys from before `sinceMs`, oldest first; returns how many. */
export async function pruneCreates(
  tx: Kysely<Schema>,
  sinceMs: number,
  limit: number,
): Promise<number> {
  // The repeated time condition spares a key that was reused meanwhile.
  const { numAffectedRows } = await sql`
    DELETE FROM idempotency_keys
    WHERE created_at_ms < ${sinceMs} AND (account_id, path, key) IN (
      SELECT account_id, path, key FROM idempotency_keys
      WHERE created_at_ms < ${sinceMs} ORDER BY created_at_ms LIMIT ${limit}
    )`.execute(tx)
  return Number(numAffectedRows)
}
