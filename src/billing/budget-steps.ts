// Steps of budgets that charges have reached: the highest one of each period, told once, and anew when
// the terms of the budget change. Charges are never taken back, so what is spent only grows.
import { type Per, type Period, periodAt } from '../contract/budgets/period.ts'
import { formatNanos } from '../lib/text/decimal.ts'
import {
  type BudgetCharge,
  reachedText,
  type WatchedBudget,
} from '../store/deliveries/budget-states.ts'
import type { StateChange } from '../store/deliveries/notice-states.ts'
import type { Store } from '../store/index.ts'
import { spentInPeriod, spentSince } from '../store/ledger/budget-spend.ts'

const steps = [100, 80, 50] as const

/** 0: none. A budget of nothing has no steps. */
function stepAt(spentNanos: bigint, amountNanos: bigint): number {
  if (amountNanos === 0n) return 0
  return steps.find((step) => spentNanos * 100n >= amountNanos * BigInt(step)) ?? 0
}

interface Reached {
  notices: readonly object[]
  /** Undefined: as it was. */
  change: StateChange | undefined
}

/** What these charges, or the change of a budget, make of it. */
export async function reachedBy(
  { read }: Pick<Store, 'read'>,
  watched: WatchedBudget,
  charges: readonly BudgetCharge[],
  nowMs: number,
): Promise<Reached> {
  const { budget, state, body } = watched
  const per = budget.per as Per
  const now = periodAt(nowMs, per, budget.zone)
  const notices: object[] = []
  const evaluate = (period: Period, spentNanos: bigint, known: number): number => {
    const percent = stepAt(spentNanos, budget.amount_nanos)
    if (percent > known) notices.push(noticeOf(watched, { percent, spentNanos, period }))
    return Math.max(percent, known)
  }
  // A period that ended before its charges were read, as after a crash.
  for (const period of state === undefined ? [] : pastPeriods(watched, charges, now)) {
    const spentNanos = await spentInPeriod(read, budget, period)
    evaluate(period, spentNanos, await knownOf(read, watched, period))
  }
  const known = await knownOf(read, watched, now)
  const percent = evaluate(now, await spentSince(read, budget, now.fromMs), known)
  const after = reachedText(budget, now.fromMs, percent)
  const isSettled = state !== undefined && 'percent' in state && notices.length === 0
  return { notices, change: isSettled || after === body ? undefined : { before: body, after } }
}

/** The step of a period that has been told. */
async function knownOf(
  read: Store['read'],
  { budget, state }: WatchedBudget,
  period: Period,
): Promise<number> {
  if (state === undefined) return 0
  if ('afterId' in state) {
    return stepAt(await spentInPeriod(read, budget, period, state.afterId), budget.amount_nanos)
  }
  if (state.fromMs === period.fromMs) return state.percent
  return state.fromMs > period.fromMs ? steps[0] : 0
}

/** Oldest first. */
function pastPeriods(
  { budget: { per, zone } }: WatchedBudget,
  charges: readonly BudgetCharge[],
  now: Period,
): Period[] {
  const byStart = new Map<number, Period>()
  for (const { at_ms } of charges) {
    if (at_ms >= now.fromMs) continue
    const period = periodAt(at_ms, per as Per, zone)
    byStart.set(period.fromMs, period)
  }
  return [...byStart.values()].sort((a, b) => a.fromMs - b.fromMs)
}

function noticeOf(
  { budget, account, name }: WatchedBudget,
  { percent, spentNanos, period }: { percent: number; spentNanos: bigint; period: Period },
) {
  const { untilMs } = period
  return {
    scope: budget.scope,
    name,
    account,
    percent,
    amount: formatNanos(budget.amount_nanos),
    spent: formatNanos(spentNanos),
    per: budget.per,
    resets_at: Number.isFinite(untilMs) ? new Date(untilMs).toISOString() : null,
  }
}
