// The budgets that calls of a token fall under, and what is spent and held of them.
import type { Budgets } from '../../billing/budgets/budgets.ts'
import { budgetView } from '../../contract/answers/budget-schema.ts'
import { type BudgetScope, budgetId } from '../../contract/budgets/budget.ts'

interface SpendingToken {
  accountId: string
  accountName: string
  id: string
  name: string
  lineage?: string
  /** Of a call, or those that its calls have by default. */
  tags?: string | undefined
}

/** Its own first, then the account's, then those of tags. */
export async function ownBudgets(
  { ledger: { budgets } }: { readonly ledger: { readonly budgets: Budgets } },
  { accountId, accountName, id, name, lineage = id, tags }: SpendingToken,
) {
  const wanted: { scope: BudgetScope; subject: string; name: string }[] = [
    { scope: 'token', subject: lineage, name },
    { scope: 'account', subject: accountId, name: accountName },
    ...(tags?.split(',') ?? []).map((tag) => ({ scope: 'tag' as const, subject: tag, name: tag })),
  ]
  const ids = wanted.map((of) => budgetId({ accountId, ...of }))
  const states = await budgets.states({ accountIds: [accountId], ids })
  return wanted.flatMap(({ scope, name: called }, at) => {
    const state = states.find((each) => each.id === ids[at])
    return state === undefined ? [] : [{ scope, name: called, ...budgetView(state) }]
  })
}
