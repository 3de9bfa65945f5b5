// Accounts that were served beyond their balance. The account's row names the call or task until
// the next credit, so that gateways sharing a database agree on which one it is.
import type { Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/** False: another call or task has been served beyond the balance since the last credit. */
export async function claimShort(
  tx: Kysely<Schema>,
  accountId: string,
  ref: string,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('accounts')
    .set({ short_ref: ref })
    .where('id', '=', accountId)
    .where((e) => e.or([e('short_ref', 'is', null), e('short_ref', '=', ref)]))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Called with a credit. */
export async function clearShort(tx: Kysely<Schema>, accountId: string): Promise<void> {
  await tx
    .updateTable('accounts')
    .set({ short_ref: null })
    .where('id', '=', accountId)
    .where('short_ref', 'is not', null)
    .execute()
}
