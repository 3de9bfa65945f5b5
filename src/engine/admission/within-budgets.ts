// The refusal of a call or task that does not fit into a budget, and the hold of a call in the budgets
// that it falls under, taken before the account's.
import { Exhausted, type Spender } from '../../billing/budgets/budget-leases.ts'
import type { BudgetsOfCall } from '../../billing/budgets/budgets.ts'
import type { Hold, Ledger } from '../../billing/ledger.ts'
import { periodAt } from '../../contract/budgets/period.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import type { BaseDeps } from '../base-deps.ts'
import { costText, type Sized } from './cost-text.ts'

/** Where it cannot be held on the account, that refusal is the one that counts. */
export async function reserveWithin(
  { ledger, clock }: Pick<BaseDeps, 'clock'> & { readonly ledger: Ledger },
  budgets: BudgetsOfCall,
  wantedNanos: bigint,
  spender: Spender,
  sized?: Sized,
): Promise<Hold | undefined | Refusal> {
  const within = await ledger.budgets.reserve(budgets, wantedNanos)
  const isFull = within instanceof Exhausted
  let hold: Hold | undefined
  try {
    const { accountId } = spender.token
    hold = await (isFull
      ? ledger.reserve(accountId, wantedNanos)
      : ledger.reserve(accountId, wantedNanos, spender, within))
  } finally {
    if (hold === undefined && !isFull) ledger.budgets.release(within)
  }
  if (!isFull || hold === undefined) return hold
  ledger.release(hold)
  return budgetExhausted(within, wantedNanos, clock.nowMs(), sized)
}

const names = { account: 'this account', token: 'this token' } as const

/** Told of the budget that resets last. */
export function budgetExhausted(
  { budgets }: Exhausted,
  wantedNanos: bigint,
  nowMs: number,
  sized?: Sized,
): Refusal {
  const resets = budgets.map(({ per, zone }) => periodAt(nowMs, per, zone).untilMs)
  const lastMs = Math.max(...resets)
  const { scope, subject, amountNanos, per } = budgets[resets.indexOf(lastMs)]!
  const whose = scope === 'tag' ? `the tag ${subject}` : names[scope]
  const span = per === 'total' ? 'in total' : `per ${per}`
  const what = `the budget of ${whose}, ${formatNanos(amountNanos)} ${span}, has no room for this call, which may cost ${costText(wantedNanos, sized)}`
  if (lastMs === Number.POSITIVE_INFINITY) return refuse('budget_exhausted', what)
  return refuse('budget_exhausted', `${what}; it resets at ${new Date(lastMs).toISOString()}`, {
    retryAfterSeconds: Math.max(1, Math.ceil((lastMs - nowMs) / 1000)),
  })
}
