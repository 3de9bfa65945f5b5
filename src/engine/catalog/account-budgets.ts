// Sets the budgets that a declaration or a change names, of an account or of a token.
import type { z } from 'zod'
import { budgetId } from '../../contract/budgets/budget.ts'
import {
  type budgetDeclaration,
  budgetFrom,
  type tagBudgetsDeclaration,
  tagBudgetsFrom,
} from '../../contract/budgets/declaration.ts'
import type { Source } from '../../contract/catalog.ts'
import type { Tx } from '../../store/index.ts'
import { findBudget, listTagBudgets, setBudget, setTagBudgets } from '../../store/ledger/budgets.ts'

/** Undefined: as it was. */
interface NamedBudgets {
  budget?: z.output<typeof budgetDeclaration> | null | undefined
  tag_budgets?: z.output<typeof tagBudgetsDeclaration> | null | undefined
}

export async function setAccountBudgets(
  tx: Tx,
  accountId: string,
  { budget, tag_budgets }: NamedBudgets,
  source: Source,
): Promise<void> {
  if (budget !== undefined) {
    const of = { accountId, scope: 'account' as const, subject: accountId }
    await setBudget(tx, of, budget && budgetFrom(budget), { source })
  }
  if (tag_budgets === undefined) return
  await setTagBudgets(tx, accountId, tagBudgetsFrom(tag_budgets ?? []), source)
}

/** What the file said before and does not say now is taken away. */
export async function applyAccountBudgets(
  tx: Tx,
  accountId: string,
  declared: NamedBudgets,
): Promise<void> {
  const of = { accountId, scope: 'account' as const, subject: accountId }
  const [before, [tagged]] = [await findBudget(tx, of), await listTagBudgets(tx, accountId)]
  const { budget = before?.source === 'file' ? null : undefined } = declared
  const { tag_budgets = tagged?.source === 'file' ? null : undefined } = declared
  await setAccountBudgets(tx, accountId, { budget, tag_budgets }, 'file')
}

/** Of a token that the file declares: what it does not say is taken away, if it is among `budgeted`. */
export async function setTokenBudget(
  tx: Tx,
  { accountId, id, lineage = id }: { accountId: string; id: string; lineage?: string },
  { budget }: NamedBudgets,
  budgeted?: ReadonlySet<string>,
): Promise<void> {
  const of = { accountId, scope: 'token' as const, subject: lineage }
  if (budget === undefined && budgeted?.has(budgetId(of)) !== true) return
  await setBudget(tx, of, budget ? budgetFrom(budget) : null, { source: 'file' })
}
