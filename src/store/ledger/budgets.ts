// Budgets as they are declared, and what gateways have leased of them. A gateway writes its leases as
// whole amounts, so that a write with an unknown outcome is corrected by the next.
import type { Kysely, Selectable, SelectQueryBuilder } from 'kysely'
import {
  type Budget,
  type BudgetOf,
  type BudgetScope,
  budgetId,
} from '../../contract/budgets/budget.ts'
import type { Per } from '../../contract/budgets/period.ts'
import type { Source } from '../../contract/catalog.ts'
import type { Schema } from '../schema.ts'

export interface StoredBudget extends Budget, BudgetOf {
  id: string
}

export type BudgetRow = Selectable<Schema['budgets']>

export const budgetOf = (row: BudgetRow): StoredBudget => ({
  id: row.id,
  accountId: row.account_id,
  scope: row.scope as BudgetScope,
  subject: row.subject,
  amountNanos: row.amount_nanos,
  per: row.per as Per,
  zone: row.zone,
})

/** All of them, for the copy in memory. */
export async function loadBudgets(db: Kysely<Schema>): Promise<StoredBudget[]> {
  return (await db.selectFrom('budgets').selectAll().orderBy('id').execute()).map(budgetOf)
}

/** Sets a budget or, with null, takes it away. What is counted of its charges stays valid. */
export async function setBudget(
  tx: Kysely<Schema>,
  of: BudgetOf,
  budget: Budget | null,
  { source, position = 0 }: { source: Source; position?: number },
): Promise<void> {
  const id = budgetId(of)
  if (budget === null) {
    await tx.deleteFrom('budgets').where('id', '=', id).execute()
    return
  }
  const { amountNanos: amount_nanos, per, zone } = budget
  const terms = { amount_nanos, per, zone, position, source }
  const { accountId: account_id, scope, subject } = of
  const uncounted = { counted_from_ms: null, counted_number: 0, spent_nanos: 0n }
  await tx
    .insertInto('budgets')
    .values({ id, account_id, scope, subject, ...terms, ...uncounted })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(terms))
    .execute()
}

/** Replaces the list of an account's budgets of tags. */
export async function setTagBudgets(
  tx: Kysely<Schema>,
  accountId: string,
  budgets: readonly (Budget & { tag: string })[],
  source: Source,
): Promise<void> {
  const kept = budgets.map(({ tag }) => tag)
  let dropped = tx
    .deleteFrom('budgets')
    .where((e) => e.and({ account_id: accountId, scope: 'tag' }))
  if (kept.length > 0) dropped = dropped.where('subject', 'not in', kept)
  await dropped.execute()
  for (const [position, { tag, ...budget }] of budgets.entries()) {
    const of = { accountId, scope: 'tag' as const, subject: tag }
    await setBudget(tx, of, budget, { source, position })
  }
}

/** As declared, in order. */
export const listTagBudgets = (db: Kysely<Schema>, accountId: string): Promise<DeclaredBudget[]> =>
  declared(db.selectFrom('budgets').where((e) => e.and({ account_id: accountId, scope: 'tag' })))

export async function findBudget(
  db: Kysely<Schema>,
  of: BudgetOf,
): Promise<DeclaredBudget | undefined> {
  return (await declared(db.selectFrom('budgets').where('id', '=', budgetId(of))))[0]
}

type DeclaredBudget = StoredBudget & { source: Source }

async function declared(
  query: SelectQueryBuilder<Schema, 'budgets', object>,
): Promise<DeclaredBudget[]> {
  const rows = await query.selectAll().orderBy('position').execute()
  return rows.map((row) => ({ ...budgetOf(row), source: row.source as Source }))
}

/** What this gateway has leased from now on, by the id of the budget. */
export async function writeBudgetLeases(
  tx: Kysely<Schema>,
  gatewayId: string,
  leases: ReadonlyMap<string, bigint>,
): Promise<void> {
  for (const [budget_id, amount_nanos] of leases) {
    const lease = { budget_id, gateway_id: gatewayId }
    if (amount_nanos === 0n) {
      await tx
        .deleteFrom('budget_leases')
        .where((e) => e.and(lease))
        .execute()
      continue
    }
    await tx
      .insertInto('budget_leases')
      .values({ ...lease, amount_nanos })
      .onConflict((conflict) =>
        conflict.columns(['budget_id', 'gateway_id']).doUpdateSet({ amount_nanos }),
      )
      .execute()
  }
}

/** The gateways that have leased some of these budgets, without the named one. */
export async function budgetHolders(
  db: Kysely<Schema>,
  { ids, exceptId }: { ids: readonly string[]; exceptId: string },
): Promise<string[]> {
  const rows = await db
    .selectFrom('budget_leases')
    .select('gateway_id')
    .distinct()
    .where('budget_id', 'in', ids)
    .where('gateway_id', '<>', exceptId)
    .execute()
  return rows.map(({ gateway_id }) => gateway_id)
}

/** For a gateway that starts on a database of its own: its calls ended with the process. */
export async function dropBudgetLeases(tx: Kysely<Schema>): Promise<void> {
  await tx.deleteFrom('budget_leases').execute()
}
