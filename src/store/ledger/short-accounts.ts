// Accounts that were served beyond their balance. The account's row names the call or task until
// the next credit, so that gateways sharing a database agree on which one it is.
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

interface ShortClaim {
  accountId: string
  /** Of the call or task. */
  ref: string
  /** The gateway that charges for it in a later transaction. */
  gatewayId?: string
}

/** False: another call or task has been served beyond the balance since the last credit. */
export async function claimShort(
  tx: Kysely<Schema>,
  { accountId, ref, gatewayId }: ShortClaim,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('accounts')
    .set({ short_ref: ref, short_gateway_id: gatewayId ?? null })
    .where('id', '=', accountId)
    .where((e) => e.or([e('short_ref', 'is', null), e('short_ref', '=', ref)]))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Called with a credit; with a ref, for a call that was not answered. */
export async function clearShort(
  tx: Kysely<Schema>,
  accountId: string,
  ref?: string,
): Promise<void> {
  const update = tx.updateTable('accounts').set(noClaim).where('id', '=', accountId)
  const claimed =
    ref === undefined
      ? update.where('short_ref', 'is not', null)
      : update.where('short_ref', '=', ref)
  await claimed.execute()
}

/** For calls of a gateway that is gone: those without a charge were not answered. */
export async function releaseShortClaims(tx: Kysely<Schema>, gatewayId: string): Promise<void> {
  await tx
    .updateTable('accounts')
    .set(noClaim)
    .where('short_gateway_id', '=', gatewayId)
    .where((e) =>
      e.not(
        e.exists(
          e
            .selectFrom('ledger')
            .select('id')
            .whereRef('ledger.ref', '=', 'accounts.short_ref')
            .where('kind', '=', 'charge'),
        ),
      ),
    )
    .execute()
}

const noClaim = { short_ref: null, short_gateway_id: null }
