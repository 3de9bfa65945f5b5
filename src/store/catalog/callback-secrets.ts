// Version of an account's callback secret: a counter that each rotation increments.
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

interface SecretRotation {
  generation: number
  /** Absent: never. */
  rotatedAtMs?: number
}

export async function findRotation(db: Kysely<Schema>, accountId: string): Promise<SecretRotation> {
  const row = await db
    .selectFrom('callback_secrets')
    .selectAll()
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  if (row === undefined) return { generation: 0 }
  return { generation: row.generation, rotatedAtMs: row.rotated_at_ms }
}

export async function advanceRotation(
  tx: Kysely<Schema>,
  accountId: string,
  atMs: number,
): Promise<void> {
  await tx
    .insertInto('callback_secrets')
    .values({ account_id: accountId, generation: 1, rotated_at_ms: atMs })
    .onConflict((conflict) =>
      conflict.column('account_id').doUpdateSet((e) => ({
        generation: e('callback_secrets.generation', '+', 1),
        rotated_at_ms: atMs,
      })),
    )
    .execute()
}
