// The price of a text model for a caller that may start billable work now.
import type { Ledger } from '../../billing/ledger.ts'
import type { CallContext } from '../../contract/caller-api.ts'
import type { Model } from '../../contract/catalog.ts'
import { modelNotFound, type Refusal, refuse } from '../../contract/errors.ts'
import { isCallTerms, type Price } from '../../contract/price.ts'
import type { BaseDeps, Offers } from '../base-deps.ts'

export interface PriceDeps extends BaseDeps, Offers {
  readonly ledger: Ledger
}

/** `called`: the name that the caller used. */
export function priceFor(
  engine: PriceDeps,
  { token: { accountId } }: CallContext,
  called: string,
  { name, pricedAs, backing }: Model,
): Price | Refusal {
  if (engine.ledger.stopped.has(accountId)) return accountSuspended
  if (!engine.store.healthy || !engine.ledger.usable(accountId)) return notNow
  const price = engine.prices.current(backing?.pricedAs ?? pricedAs ?? name, accountId)
  // A price per image or second of video does not apply to calls.
  const fits = price !== undefined && (price.terms.unit === 'token' || isCallTerms(price.terms))
  return fits ? price : modelNotFound(called)
}

export const notNow = refuse('overloaded', 'the gateway cannot record charges at the moment', {
  retryAfterSeconds: 2,
})

/** No retry time: an administrator must review the ledger first. */
export const accountSuspended = refuse(
  'account_stopped',
  'the books of this account are being looked at; until then it can start nothing that costs',
)
