// Budgets of accounts and tokens in answers of the admin API, and as the audit log keeps them.
import { type budget as budgetSchema, budgetView } from '../contract/answers/budget-schema.ts'
import { type Budget, type BudgetOf, budgetId } from '../contract/budgets/budget.ts'
import type { Engine } from '../engine/engine.ts'
import { formatNanos } from '../lib/text/decimal.ts'
import type { StoredToken } from '../store/catalog/tokens.ts'
import type { View } from './route.ts'

type BudgetView = View<typeof budgetSchema>

export const budgetOfToken = ({ accountId, id, lineage = id }: StoredToken): BudgetOf => ({
  accountId,
  scope: 'token',
  subject: lineage,
})

export const budgetOfAccount = (accountId: string): BudgetOf => ({
  accountId,
  scope: 'account',
  subject: accountId,
})

/** The budgets of these, each with what is spent and held of it; null where there is none. */
export async function viewBudgets(
  { ledger }: Pick<Engine, 'ledger'>,
  all: readonly BudgetOf[],
): Promise<(BudgetView | null)[]> {
  const accountId = all[0]?.accountId
  const isOne = accountId !== undefined && all.every((each) => each.accountId === accountId)
  const ids = all.map(budgetId)
  const accountIds = isOne ? [accountId] : undefined
  const states = await ledger.budgets.states({ ids, ...(accountIds && { accountIds }) })
  const views = new Map(states.map((state) => [state.id, budgetView(state)]))
  return ids.map((id) => views.get(id) ?? null)
}

/** By account: its own budget, and those of its tags in order. */
export async function viewAccountBudgets(
  { ledger }: Pick<Engine, 'ledger'>,
  accountIds: readonly string[],
) {
  const states = await ledger.budgets.states({ accountIds, scopes: ['account', 'tag'] })
  return (accountId: string) => {
    const own = states.filter((state) => state.accountId === accountId)
    const budget = own.find(({ scope }) => scope === 'account')
    const tagged = own.filter(({ scope }) => scope === 'tag')
    return {
      budget: budget === undefined ? null : budgetView(budget),
      tag_budgets: tagged.map((state) => ({ tag: state.subject, ...budgetView(state) })),
    }
  }
}

/** As declared. */
export const termsView = (budget: Budget | undefined) =>
  budget === undefined
    ? null
    : { amount: formatNanos(budget.amountNanos), per: budget.per, zone: budget.zone }
