// What is spent and held of budgets, derived from the ledger: charges less refunds of the period, holds of
// open tasks, and what gateways have leased for their calls. How far the charges are counted is kept
// with the budget, so that each entry is read once. It moves only while the account's row is locked:
// an account's receipts are numbered under that lock, so none below can appear later.
import { type Kysely, sql } from 'kysely'
import type { BudgetScope } from '../../contract/budgets/budget.ts'
import { type Period, periodAt } from '../../contract/budgets/period.ts'
import { bothOf, inCall, inEntry, type LedgerColumn } from '../rows/ledger-rows.ts'
import type { Dialect, Schema } from '../schema.ts'
import { liveStates } from '../tasks/tasks.ts'
import { type BudgetRow, budgetOf, type StoredBudget } from './budgets.ts'

export interface BudgetSpend extends StoredBudget {
  period: Period
  spentNanos: bigint
  /** Of open tasks. */
  taskNanos: bigint
  /** Leased by each gateway, at least what its calls hold. */
  leases: ReadonlyMap<string, bigint>
}

export interface BudgetFilter {
  accountIds?: readonly string[]
  ids?: readonly string[]
  scopes?: readonly BudgetScope[]
}

/** Budgets and what is spent of them: all, or those that the filter names. */
export async function readBudgets(
  db: Kysely<Schema>,
  nowMs: number,
  { accountIds, ids, scopes }: BudgetFilter = {},
): Promise<BudgetSpend[]> {
  if (ids?.length === 0 || accountIds?.length === 0) return []
  let query = db.selectFrom('budgets').selectAll().orderBy('position').orderBy('id')
  if (accountIds !== undefined) query = query.where('account_id', 'in', accountIds)
  if (scopes !== undefined) query = query.where('scope', 'in', scopes)
  if (ids !== undefined) query = query.where('id', 'in', ids)
  const rows = await query.execute()
  return (await spendOf(db, nowMs, rows)).map(({ spend }) => spend)
}

/** Locks the account until the transaction ends, so that what is counted can be kept. */
export async function lockBudgets(
  tx: Kysely<Schema>,
  nowMs: number,
  { accountId, ids, dialect }: { accountId: string; ids: readonly string[]; dialect: Dialect },
): Promise<BudgetSpend[]> {
  // A transaction on SQLite is alone.
  const account = tx.selectFrom('accounts').select('id').where('id', '=', accountId)
  if (dialect === 'postgres') await account.forUpdate().execute()
  const rows = await tx.selectFrom('budgets').selectAll().where('id', 'in', ids).execute()
  const counted = await spendOf(tx, nowMs, rows)
  for (const { row, spend, lastNumber } of counted) {
    if (lastNumber === row.counted_number && row.counted_from_ms === spend.period.fromMs) continue
    const { spentNanos, period } = spend
    const upTo = {
      counted_from_ms: period.fromMs,
      counted_number: lastNumber,
      spent_nanos: spentNanos,
    }
    await tx.updateTable('budgets').set(upTo).where('id', '=', row.id).execute()
  }
  return counted.map(({ spend }) => spend)
}

interface Counted {
  row: BudgetRow
  spend: BudgetSpend
  lastNumber: number
}

/** Leases are read first and charges last: what moves meanwhile counts twice rather than not at all. */
async function spendOf(
  db: Kysely<Schema>,
  nowMs: number,
  rows: readonly BudgetRow[],
): Promise<Counted[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const leases = db.selectFrom('budget_leases').selectAll().where('budget_id', 'in', ids)
  const byBudget = Map.groupBy(await leases.execute(), ({ budget_id }) => budget_id)
  const counted: Counted[] = []
  for (const row of rows) {
    const budget = budgetOf(row)
    const period = periodAt(nowMs, budget.per, budget.zone)
    const taskNanos = await taskHolds(db, budget)
    const { spentNanos, lastNumber } = await countCharges(db, row, period.fromMs)
    const leased = byBudget
      .get(row.id)
      ?.map((each) => [each.gateway_id, each.amount_nanos] as const)
    const spend = { ...budget, period, spentNanos, taskNanos, leases: new Map(leased) }
    counted.push({ row, spend, lastNumber })
  }
  return counted
}

/** The entries of a budget's subject, or its tasks: both tables have these columns. */
function covered({ scope, subject }: StoredBudget) {
  if (scope === 'account') return sql<boolean>`1 = 1`
  if (scope === 'token') {
    return sql<boolean>`token_id IN (SELECT id FROM tokens WHERE id = ${subject} OR lineage = ${subject})`
  }
  // A text of pairs; the same on both dialects, and no character of a tag is special.
  const pair = `,${subject},`
  return sql<boolean>`(tags IS NOT NULL AND replace(',' || tags || ',', ${pair}, '') <> ',' || tags || ',')`
}

async function taskHolds(db: Kysely<Schema>, budget: StoredBudget): Promise<bigint> {
  const row = await db
    .selectFrom('tasks')
    .select(sql<bigint>`CAST(coalesce(sum(hold_nanos), 0) AS bigint)`.as('held_nanos'))
    .where('account_id', '=', budget.accountId)
    .where(live)
    .where(covered(budget))
    .executeTakeFirstOrThrow()
  return row.held_nanos
}

// As in the index of such tasks.
const live = sql<boolean>`${sql.raw(`state IN (${liveStates.map((state) => `'${state}'`).join(', ')})`)}`

/** Entries are booked when they are dated, give or take much less than this. */
const disorderMs = 3_600_000

const newest = Number.MAX_SAFE_INTEGER

/** Charges less refunds of a period, of the numbers after `after` up to an entry, and the last number. */
async function spentWithin(
  db: Kysely<Schema>,
  row: BudgetRow,
  { after, fromMs, untilMs }: Period & { after: number },
  untilId = newest,
): Promise<{ spentNanos: bigint; lastNumber: number }> {
  const spent = (name: (of: LedgerColumn) => string) => {
    const [id, kind, atMs] = [sql.raw(name('id')), sql.raw(name('kind')), sql.raw(name('at_ms'))]
    return sql`CASE WHEN ${kind} IN ('charge', 'refund') AND ${id} <= ${untilId} AND ${atMs} >= ${fromMs}
      AND ${atMs} < ${Math.min(untilMs, newest)} AND ${covered(budgetOf(row))}
      THEN -(${sql.raw(name('amount_nanos'))}) ELSE 0 END`
  }
  const numbered = bothOf(
    sql`SELECT c.number, ${spent(inEntry)} AS spent FROM receipts c
      JOIN entries e ON e.id = c.entry_id WHERE c.account_id = ${row.account_id} AND c.number > ${after}`,
    sql`SELECT r.number, ${spent(inCall)} AS spent FROM requests r
      WHERE r.account_id = ${row.account_id} AND r.number > ${after}`,
  )
  const { rows } = await sql<{ last_number: number | null; spent_nanos: bigint }>`
    SELECT max(number) AS last_number, CAST(coalesce(sum(spent), 0) AS bigint) AS spent_nanos
    FROM (${numbered}) AS charges`.execute(db)
  const { last_number, spent_nanos } = rows[0]!
  return { spentNanos: spent_nanos, lastNumber: last_number ?? after }
}

async function countCharges(db: Kysely<Schema>, row: BudgetRow, fromMs: number) {
  const isCounted = row.counted_from_ms === fromMs
  const after = isCounted ? row.counted_number : await numberBefore(db, row.account_id, fromMs)
  const before = isCounted ? row.spent_nanos : 0n
  const { spentNanos: since, lastNumber } = await spentWithin(db, row, {
    after,
    fromMs,
    untilMs: Infinity,
  })
  return { spentNanos: before + since, lastNumber }
}

/** Charges of the period that began then and has not ended. */
export const spentSince = async (db: Kysely<Schema>, row: BudgetRow, fromMs: number) =>
  (await countCharges(db, row, fromMs)).spentNanos

/** Charges of a period that may be over, up to this entry. Reads all of them. */
export async function spentInPeriod(
  db: Kysely<Schema>,
  row: BudgetRow,
  period: Period,
  untilId?: number,
): Promise<bigint> {
  const after = await numberBefore(db, row.account_id, period.fromMs)
  return (await spentWithin(db, row, { ...period, after }, untilId)).spentNanos
}

/** Newest receipt of the account from well before this moment; later ones include all dated since. */
async function numberBefore(db: Kysely<Schema>, accountId: string, fromMs: number) {
  if (fromMs === 0) return 0
  const beforeMs = fromMs - disorderMs
  const { rows } = await sql<{ number: number | null }>`SELECT max(number) AS number FROM (${bothOf(
    sql`SELECT c.number FROM receipts c JOIN entries e ON e.id = c.entry_id
      WHERE c.account_id = ${accountId} AND e.at_ms < ${beforeMs} ORDER BY c.number DESC LIMIT 1`,
    sql`SELECT r.number FROM requests r WHERE r.account_id = ${accountId}
      AND r.number IS NOT NULL AND r.booked_at_ms < ${beforeMs} ORDER BY r.number DESC LIMIT 1`,
  )}) AS earlier`.execute(db)
  return rows[0]?.number ?? 0
}
