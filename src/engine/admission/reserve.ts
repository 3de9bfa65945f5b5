// Holds the maximum cost of work on its account and in the budgets that it falls under, and counts it
// against the limits of its token.
import { Exhausted } from '../../billing/budgets/budget-leases.ts'
import type { BudgetsOfCall } from '../../billing/budgets/budgets.ts'
import type { Hold, Ledger } from '../../billing/ledger.ts'
import { periodAt } from '../../contract/budgets/period.ts'
import type { CallContext } from '../../contract/caller-api.ts'
import type { Token } from '../../contract/catalog.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import type { BaseDeps } from '../base-deps.ts'
import { costText, type Sized } from './cost-text.ts'
import type { LimitedToken, RateLimits, RatePass } from './limits/rate-limits.ts'
import { notNow } from './price-for.ts'

export interface ReserveDeps extends BaseDeps {
  readonly ledger: Ledger
  readonly rates: RateLimits
}

/** Undefined: the account cannot pay for it. `sized`: for the words of a refusal. */
export function reserve(
  engine: ReserveDeps,
  ctx: CallContext,
  wantedNanos: bigint,
  sized?: Sized,
): Hold | undefined | Promise<Hold | undefined | Refusal> {
  const { token, tags } = ctx
  const { ledger } = engine
  const budgets = ledger.budgets.of(token, tags)
  const held =
    budgets === undefined
      ? ledger.reserve(token.accountId, wantedNanos, ctx)
      : reserveWithin(engine, budgets, wantedNanos, ctx, sized)
  return held instanceof Promise ? orNotNow(engine, token, held) : held
}

const orNotNow = <T>({ log }: ReserveDeps, { accountId }: Token, held: Promise<T>) =>
  held.catch((error): Refusal => {
    log.warn('credit check failed', { account_id: accountId, error })
    return notNow
  })

/** Where it cannot be held on the account, that refusal is the one that counts. */
async function reserveWithin(
  { ledger, clock }: ReserveDeps,
  budgets: BudgetsOfCall,
  wantedNanos: bigint,
  ctx: CallContext,
  sized: Sized | undefined,
): Promise<Hold | undefined | Refusal> {
  const within = await ledger.budgets.reserve(budgets, wantedNanos)
  const isFull = within instanceof Exhausted
  let hold: Hold | undefined
  try {
    const { accountId } = ctx.token
    hold = await (isFull
      ? ledger.reserve(accountId, wantedNanos)
      : ledger.reserve(accountId, wantedNanos, ctx, within))
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

/** The whole hold must be available: the maximum cost is known before the call is sent. */
export const insufficient = (sized: Sized, wantedNanos: bigint): Refusal =>
  refuse(
    'insufficient_quota',
    `the account's available balance is too low: this call may cost ${costText(wantedNanos, sized)}`,
  )

/** Counts the estimated usage of a call against its token's limits; corrected when it has ended. */
export const enter = (
  { rates }: Pick<ReserveDeps, 'rates'>,
  { token }: CallContext,
  tokens: number,
): RatePass | Refusal | Promise<RatePass | Refusal> => rates.enter(countedAs(token), tokens)

/** By name, so that gateways with separate databases identify the same token. */
export function countedAs(token: Token): LimitedToken {
  const { limits, accountName, name } = token
  const unlimited =
    limits.rpm === undefined && limits.tpm === undefined && limits.concurrency === undefined
  return unlimited ? token : { id: `${accountName}/${name}`, limits }
}
