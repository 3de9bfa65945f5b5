// Budgets as they go over the wire, to callers and to administrators alike.
import { z } from 'zod'
import { formatNanos } from '../../lib/text/decimal.ts'
import type { BudgetState } from '../budgets/budget.ts'
import { periods } from '../budgets/period.ts'
import { money, time } from './fields.ts'

const figures = {
  amount: money(),
  per: z.enum(periods),
  zone: z.string().describe('Time zone that its periods begin in.'),
  spent: money().describe('Charges dated in the period.'),
  held: money().describe('Holds of calls and tasks that have not ended.'),
  left: money().describe(
    'Amount less spent and held; below zero when a charge was above its hold.',
  ),
  resets_at: time().nullable().describe('When the next period begins; null: never.'),
}

export const budget = z.object(figures).meta({ id: 'Budget' })

export const tagBudget = z.object({ tag: z.string(), ...figures }).meta({ id: 'TagBudget' })

export const ownBudget = z
  .object({
    scope: z.enum(['token', 'account', 'tag']),
    name: z.string().describe('Of the token or the account, or the tag.'),
    ...figures,
  })
  .meta({ id: 'OwnBudget' })

export const budgetView = (state: BudgetState): z.output<typeof budget> => ({
  amount: formatNanos(state.amountNanos),
  per: state.per,
  zone: state.zone,
  spent: formatNanos(state.spentNanos),
  held: formatNanos(state.heldNanos),
  left: formatNanos(state.amountNanos - state.spentNanos - state.heldNanos),
  resets_at: Number.isFinite(state.resetsAtMs) ? new Date(state.resetsAtMs).toISOString() : null,
})
