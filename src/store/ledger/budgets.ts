// Budgets as they are declared, and what gateways have leased of them. A gateway writes its leases as
// whole amounts, so that a write with an unknown outcome is corrected by the next.
import type { Kysely, Selectable } from 'kysely'
import {
  type Budget,
  type BudgetOf,
  type BudgetScope,
  budgetId,
} from '../../contract/budgets/budget.ts'
import type { Per } from '../../contract/budgets/period.ts'
import type { Source } from '../../contract/catalog.ts'
import type { Dialect, Schema } from '../schema.ts'

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
  const terms = {
    amount_nanos: budget.amountNanos,
    per: budget.per,
    zone: budget.zone,
    position,
    source,
  }
  await tx
    .insertInto('budgets')
    .values({
      id,
      account_id: of.accountId,
      scope: of.scope,
      subject: of.subject,
      ...terms,
      counted_from_ms: null,
      counted_id: 0,
      spent_nanos: 0n,
    })
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
export async function listTagBudgets(
  db: Kysely<Schema>,
  accountId: string,
): Promise<(StoredBudget & { source: Source })[]> {
  const rows = await db
    .selectFrom('budgets')
    .selectAll()
    .where((e) => e.and({ account_id: accountId, scope: 'tag' }))
    .orderBy('position')
    .execute()
  return rows.map((row) => ({ ...budgetOf(row), source: row.source as Source }))
}

/** As declared. */
export async function findBudget(
  db: Kysely<Schema>,
  of: BudgetOf,
): Promise<(StoredBudget & { source: Source }) | undefined> {
  const query = db.selectFrom('budgets').selectAll().where('id', '=', budgetId(of))
  const row = await query.executeTakeFirst()
  return row === undefined ? undefined : { ...budgetOf(row), source: row.source as Source }
}

interface BudgetLease {
  budgetId: string
  amountNanos: bigint
}

/** True where gateways share the database and this one has been evicted: it must lease nothing. */
export async function isEvicted(
  tx: Kysely<Schema>,
  { gatewayId, dialect }: { gatewayId: string; dialect: Dialect },
): Promise<boolean> {
  if (dialect === 'sqlite') return false
  const gateway = tx.selectFrom('gateways').select('id').where('id', '=', gatewayId)
  return (await gateway.forShare().executeTakeFirst()) === undefined
}

/** What this gateway has leased from now on. */
export async function writeBudgetLeases(
  tx: Kysely<Schema>,
  gatewayId: string,
  leases: readonly BudgetLease[],
): Promise<void> {
  for (const { budgetId: budget_id, amountNanos: amount_nanos } of leases) {
    if (amount_nanos === 0n) {
      await tx
        .deleteFrom('budget_leases')
        .where((e) => e.and({ budget_id, gateway_id: gatewayId }))
        .execute()
      continue
    }
    await tx
      .insertInto('budget_leases')
      .values({ budget_id, gateway_id: gatewayId, amount_nanos })
      .onConflict((conflict) =>
        conflict.columns(['budget_id', 'gateway_id']).doUpdateSet({ amount_nanos }),
      )
      .execute()
  }
}

/** For a gateway that starts on a database of its own: its calls ended with the process. */
export async function dropBudgetLeases(tx: Kysely<Schema>): Promise<void> {
  await tx.deleteFrom('budget_leases').execute()
}
