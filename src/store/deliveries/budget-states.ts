// Which budgets charges fall under, and what has been told of each: its terms, the period and the step.
// A budget whose terms are not those of its state has changed since.
import { type Kysely, type Selectable, sql } from 'kysely'
import type { LedgerRow } from '../rows/ledger-rows.ts'
import type { Schema } from '../schema.ts'
import type { FeedRange } from './low-balances.ts'

const type = 'budget.reached'

/** What has been told of a budget. */
type ReachedState =
  /** Nothing: the subscription begins after this entry. */
  | { afterId: number }
  /** The step of the period that began then. */
  | { fromMs: number; percent: number }

type BudgetRow = Selectable<Schema['budgets']>

export interface WatchedBudget {
  budget: BudgetRow
  account: string
  /** Of its token, its account, or the tag. */
  name: string
  /** The text of the state, of whatever terms. */
  body: string | undefined
  /** Undefined: nothing has been told of these terms. */
  state: ReachedState | undefined
}

export type BudgetCharge = Pick<LedgerRow, 'id' | 'account_id' | 'token_id' | 'tags' | 'at_ms'>

/** Charges of accounts that have budgets. */
export const budgetChargesIn = (
  db: Kysely<Schema>,
  { afterId, untilId, limit }: FeedRange,
): Promise<BudgetCharge[]> =>
  db
    .selectFrom('ledger')
    .select(['id', 'account_id', 'token_id', 'tags', 'at_ms'])
    .where('id', '>', afterId)
    .where('id', '<=', untilId)
    .where('kind', '=', 'charge')
    .where('account_id', 'in', (e) => e.selectFrom('budgets').select('account_id'))
    .orderBy('id')
    .limit(limit)
    .execute()

/** The budgets of these charges: a few too many, where a tag is used by several accounts. */
export async function budgetsOf(
  db: Kysely<Schema>,
  charges: readonly BudgetCharge[],
): Promise<WatchedBudget[]> {
  if (charges.length === 0) return []
  const listOf = (values: readonly (string | null)[]) => {
    const unique = [...new Set(values.filter((value) => value !== null))]
    return sql.join(unique.length === 0 ? [''] : unique)
  }
  const accounts = listOf(charges.map(({ account_id }) => account_id))
  const tokens = listOf(charges.map(({ token_id }) => token_id))
  const tags = listOf(charges.flatMap((each) => each.tags?.split(',') ?? []))
  return watched(
    db,
    sql`b.account_id IN (${accounts}) AND (b.scope = 'account'
      OR (b.scope = 'tag' AND b.subject IN (${tags}))
      OR (b.scope = 'token' AND b.subject IN (
        SELECT coalesce(lineage, id) FROM tokens WHERE id IN (${tokens}))))`,
  )
}

// As `termsOf` writes them.
const terms = sql`CAST(b.amount_nanos AS text) || ' ' || b.per || ' ' || b.zone || '|'`

/** Budgets that are new or have changed, and those of which nothing was told yet. */
export const changedBudgets = (db: Kysely<Schema>, limit: number): Promise<WatchedBudget[]> =>
  watched(
    db,
    sql`(s.body IS NULL OR substr(s.body, 1, length(${terms})) <> ${terms}
      OR s.body LIKE '%|after %')`,
    limit,
  )

type WatchedRow = BudgetRow & { account: string; token: string | null; body: string | null }

async function watched(
  db: Kysely<Schema>,
  condition: ReturnType<typeof sql>,
  limit?: number,
): Promise<WatchedBudget[]> {
  const { rows } = await sql<WatchedRow>`
    SELECT b.*, a.name AS account, s.body, (SELECT t.name FROM tokens t
      WHERE b.scope = 'token' AND (t.id = b.subject OR t.lineage = b.subject)
      ORDER BY CASE WHEN t.id = b.subject AND t.revoked_at_ms IS NULL THEN 0 ELSE 1 END,
        t.created_at_ms DESC LIMIT 1) AS token
    FROM budgets b JOIN accounts a ON a.id = b.account_id
    LEFT JOIN notice_states s ON s.type = ${type} AND s.subject = b.id AND s.reporter = ''
    WHERE ${condition} ORDER BY b.id
    ${limit === undefined ? sql`` : sql`LIMIT ${limit}`}`.execute(db)
  return rows.map(({ account, token, body: text, ...budget }) => {
    const names = { account, token: token ?? budget.subject, tag: budget.subject }
    const name = names[budget.scope as keyof typeof names]
    const body = text ?? undefined
    return { budget, account, name, body, state: stateIn(budget, body) }
  })
}

type Terms = Pick<BudgetRow, 'amount_nanos' | 'per' | 'zone'>

const termsOf = ({ amount_nanos, per, zone }: Terms): string => `${amount_nanos} ${per} ${zone}|`

export const reachedText = (budget: Terms, fromMs: number, percent: number): string =>
  `${termsOf(budget)}${fromMs} ${percent}`

function stateIn(budget: Terms, body: string | undefined): ReachedState | undefined {
  const now = termsOf(budget)
  if (!body?.startsWith(now)) return undefined
  const [first = '', second] = body.slice(now.length).split(' ')
  return first === 'after'
    ? { afterId: Number(second) }
    : { fromMs: Number(first), percent: Number(second) }
}

/** What was reached before this entry is not told: no subscription wanted it then. */
export async function resetBudgetStates(tx: Kysely<Schema>, entryId: number): Promise<void> {
  await tx.deleteFrom('notice_states').where('type', '=', type).execute()
  await sql`
    INSERT INTO notice_states (type, subject, reporter, body, at_ms)
    SELECT ${type}, b.id, '', ${terms} || ${`after ${entryId}`}, 0 FROM budgets b`.execute(tx)
}

/** States of budgets that are gone: one of the same name is a new one. */
export async function orphanedStates(db: Kysely<Schema>): Promise<string[]> {
  const rows = await db
    .selectFrom('notice_states as s')
    .leftJoin('budgets as b', 'b.id', 's.subject')
    .select('s.subject')
    .where('s.type', '=', type)
    .where('b.id', 'is', null)
    .limit(500)
    .execute()
  return rows.map(({ subject }) => subject)
}

export async function dropBudgetStates(tx: Kysely<Schema>, subjects: string[]): Promise<void> {
  const states = tx.deleteFrom('notice_states').where('type', '=', type)
  await states.where('subject', 'in', subjects).execute()
}
