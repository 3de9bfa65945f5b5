// Budgets of LiteLLM: an amount of dollars that may be spent, in all or again after each duration.
import { amountText, type Decimal, decimalOf, minus, times, zero } from '../money.ts'
import type { Kind, Plan, TokenDraft } from '../plan.ts'
import { type Row, textIn } from '../rows.ts'

type Budget = NonNullable<TokenDraft['budget']>

const words: Readonly<Record<string, string>> = {
  hourly: '1h',
  daily: '1d',
  weekly: '7d',
  monthly: '30d',
}
const dayParts: Readonly<Record<string, number>> = {
  s: 1 / 86_400,
  m: 1 / 1_440,
  h: 1 / 24,
  d: 1,
  w: 7,
  mo: 30,
}

/** The same period, or the next longer one: never may more be spent than there. */
function periodOf(duration: string): { per: Budget['per']; isSame: boolean } | undefined {
  const parts = /^(\d+)(s|m|h|d|w|mo)$/.exec(words[duration] ?? duration)
  if (parts === null) return undefined
  const days = Number(parts[1]) * dayParts[parts[2]!]!
  if (days <= 1) return { per: 'day', isSame: days === 1 }
  if (days <= 7) return { per: 'week', isSame: days === 7 }
  if (days <= 31) return { per: 'month', isSame: days >= 28 }
  return { per: 'total', isSame: false }
}

/** Of a key, a team or a user; undefined where it has none. */
export function budgetOf(
  plan: Plan,
  kind: Kind,
  name: string,
  row: Row,
  rate: Decimal,
): Budget | undefined {
  const whole = decimalOf(row['max_budget'])
  if (whole === undefined) return undefined
  const duration = textIn(row, 'budget_duration')
  if (duration === '') {
    const left = amountText(times(minus(whole, decimalOf(row['spend']) ?? zero), rate))
    return left === undefined ? undefined : { amount: left, per: 'total' }
  }
  const amount = amountText(times(whole, rate))
  if (amount === undefined) return undefined
  return periodic(plan, { kind, name, duration, amount, spent: spentOf(row, rate) })
}

interface Periodic {
  kind: Kind
  name: string
  duration: string
  amount: string
  spent: string
}

function periodic(plan: Plan, { kind, name, duration, amount, spent }: Periodic): Budget {
  const period = periodOf(duration)
  if (period === undefined) {
    const reason = `budget_duration '${duration}' is not known: its budget is for all time`
    plan.change(kind, name, reason)
    return { amount, per: 'total' }
  }
  if (!period.isSame) {
    plan.change(kind, name, `its budget for ${duration} is for a ${period.per} here`)
  }
  if (spent !== '0.00') {
    plan.change(kind, name, `${spent} spent in the running period is not counted here`)
  }
  if (kind === 'account') {
    const reason = 'its budget begins anew each period, its credit does not: add credit in time'
    plan.change(kind, name, reason)
  }
  return { amount, per: period.per }
}

const spentOf = (row: Row, rate: Decimal): string =>
  amountText(times(decimalOf(row['spend']) ?? zero, rate)) ?? '0.00'
