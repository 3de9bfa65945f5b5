// Suspended accounts: no billable work, because their ledger does not add up. Who suspends and who
// lifts a suspension is decided elsewhere.
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

export async function loadSuspended(db: Kysely<Schema>): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('accounts')
    .select('id')
    .where('suspended_since_ms', 'is not', null)
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** False when it was already suspended or does not exist. */
export async function suspendAccount(
  tx: Kysely<Schema>,
  accountId: string,
  atMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('accounts')
    .set({ suspended_since_ms: atMs })
    .where('id', '=', accountId)
    .where('suspended_since_ms', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function letAccountGoOn(tx: Kysely<Schema>, accountId: string): Promise<void> {
  await tx
    .updateTable('accounts')
    .set({ suspended_since_ms: null })
    .where('id', '=', accountId)
    .execute()
}
