// Callers that are refused whatever they ask for, before their body is read. Uses only what this
// gateway knows without I/O; admission finds out the rest.
import type { Token } from '../../contract/catalog.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { Jobs } from '../jobs.ts'
import { accountSuspended, type PriceDeps } from './price-for.ts'
import { countedAs, type ReserveDeps } from './reserve.ts'

interface RefusedCallerDeps extends PriceDeps, ReserveDeps {
  readonly jobs: Pick<Jobs, 'emptyAccounts'>
}

const nothingLeft = refuse('insufficient_quota', "the account's available balance is used up")

/** `mayBeFree`: such as an earlier answer that is given again. */
export function turnedAway(
  { ledger, prices, rates, jobs }: RefusedCallerDeps,
  token: Token,
  mayBeFree = false,
): Refusal | undefined {
  if (ledger.stopped.has(token.accountId)) return accountSuspended
  if (!mayBeFree && ledger.isSpent(token.accountId) && !prices.hasFree) {
    // The refusal that has to be told is that of the admission, which can wait for it.
    if (!jobs.emptyAccounts.isDue(token.accountId)) return nothingLeft
  }
  return rates.refusalNow(countedAs(token))
}
