// Statements of upstreams and their lines. A statement exists once its own row does: lines without
// one belong to an import that is running, or that was interrupted and is cleaned up later.
import { type Kysely, type Selectable, type SqlBool, sql } from 'kysely'
import type { Dialect, Schema } from '../schema.ts'
import { insertRows } from '../sql/bulk.ts'
import { type Page, type PageQuery, pageOf, textCursor } from '../sql/cursor.ts'

/** One line of an upstream's statement, as it was read. */
export interface StatementLine {
  number: number
  atMs?: number
  model?: string
  upstreamId?: string
  quantity?: number
  amountNanos?: bigint
  /** That of the amount before it was converted; absent: the ledger's. */
  currency?: string
}

/** `lost`: the upstream billed it, and a loss explains why no caller paid. */
export const lineOutcomes = [
  'matched',
  'amount_differs',
  'quantity_differs',
  'loss',
  'upstream_only',
  'gateway_only',
] as const
export type LineOutcome = (typeof lineOutcomes)[number]

/** What explains a difference, or its absence. */
export const lineReasons = [
  'matched',
  'rounding',
  'late',
  'loss',
  'price_differs',
  'quantity_differs',
  'model_differs',
  'day_differs',
  'billed_twice',
  'exchange',
  'unknown_cost',
  'upstream_only',
  'gateway_only',
] as const
export type LineReason = (typeof lineReasons)[number]

/** Result for a line. Of several lines that belong together, the first carries our side. */
export interface Verdict {
  number: number
  outcome: LineOutcome
  reason?: LineReason | undefined
  /** What the work should cost, where this is the first line of it. */
  costNanos?: bigint | undefined
  /** The first line of those that are compared together, where it is not this one. */
  partOf?: number | undefined
  /** On the first of several lines: their sums. */
  theirQuantity?: number | undefined
  theirNanos?: bigint | undefined
  ref?: string | undefined
  ourQuantity?: number | undefined
  ourAmountNanos?: bigint | undefined
}

export type JudgedLine = StatementLine & Verdict

export interface Statement {
  id: string
  atMs: number
  channel: string
  name: string
  fromMs: number
  untilMs: number
  /** How it was read and the result. */
  body: string
}

/** Inserts lines whose statement does not exist yet. */
export async function insertLines(
  tx: Kysely<Schema>,
  dialect: Dialect,
  statementId: string,
  lines: readonly (StatementLine | JudgedLine)[],
): Promise<void> {
  const values = lines.flatMap((line) => [
    statementId,
    line.number,
    'outcome' in line ? line.outcome : 'upstream_only',
    line.atMs ?? null,
    line.model ?? null,
    line.upstreamId ?? null,
    line.quantity ?? null,
    line.amountNanos ?? null,
    line.currency ?? null,
    ...('outcome' in line
      ? [
          line.ref ?? null,
          line.ourQuantity ?? null,
          line.ourAmountNanos ?? null,
          line.costNanos ?? null,
        ]
      : [null, null, null, null]),
  ])
  await insertRows(tx, dialect, { table: 'statement_lines', columns: lineColumns, values })
}

const lineColumns = [
  'statement_id',
  'number',
  'outcome',
  'at_ms',
  'model',
  'upstream_id',
  'quantity',
  'amount_nanos',
  'currency',
  'ref',
  'our_quantity',
  'our_amount_nanos',
  'cost_nanos',
]

/** Updates existing lines. */
export async function putVerdicts(
  tx: Kysely<Schema>,
  dialect: Dialect,
  statementId: string,
  verdicts: readonly Verdict[],
): Promise<void> {
  const values = verdicts.flatMap((verdict) => [
    statementId,
    verdict.number,
    verdict.outcome,
    verdict.ref ?? null,
    verdict.ourQuantity ?? null,
    verdict.ourAmountNanos ?? null,
    verdict.reason ?? null,
    verdict.costNanos ?? null,
    verdict.partOf ?? null,
    verdict.theirQuantity ?? null,
    verdict.theirNanos ?? null,
  ])
  const columns = [
    ...['statement_id', 'number', 'outcome', 'ref', 'our_quantity', 'our_amount_nanos'],
    ...['reason', 'cost_nanos', 'part_of', 'their_quantity', 'their_nanos'],
  ]
  const sets = columns.slice(2).map((column) => `${column} = excluded.${column}`)
  const ending = `ON CONFLICT (statement_id, number) DO UPDATE SET ${sets.join(', ')}`
  await insertRows(tx, dialect, { table: 'statement_lines', columns, values, ending })
}

/** Lines by the ids they name, among the first `mostNumber`. */
export async function linesByUpstreamId(
  db: Kysely<Schema>,
  statementId: string,
  upstreamIds: readonly string[],
  maxNumber: number,
): Promise<JudgedLine[]> {
  if (upstreamIds.length === 0) return []
  const rows = await db
    .selectFrom('statement_lines')
    .selectAll()
    .where('upstream_id', 'in', upstreamIds)
    // Written so that no index applies: the planner would read all lines of the statement by it.
    .where(sql<SqlBool>`statement_id || '' = ${statementId}`)
    .execute()
  return rows.filter(({ number }) => number <= maxNumber).map(shapeLine)
}

interface LineFilter {
  after: number
  limit: number
  outcome?: string | undefined
  onlyMismatched?: boolean
}

/** In order, after a given number. */
export async function linesAfter(
  db: Kysely<Schema>,
  statementId: string,
  { after, limit, outcome, onlyMismatched = false }: LineFilter,
): Promise<JudgedLine[]> {
  let query = db
    .selectFrom('statement_lines')
    .selectAll()
    .where('statement_id', '=', statementId)
    .where('number', '>', after)
    .orderBy('number')
    .limit(limit)
  if (outcome !== undefined) query = query.where('outcome', '=', outcome)
  if (onlyMismatched) query = query.where('outcome', '!=', 'matched')
  return (await query.execute()).map(shapeLine)
}

export interface OutcomeSum {
  outcome: LineOutcome
  lines: number
  quantity: number
  amountNanos: bigint
  ourQuantity: number
  ourAmountNanos: bigint
}

export async function sumOutcomes(db: Kysely<Schema>, statementId: string): Promise<OutcomeSum[]> {
  const { rows } = await sql<{
    outcome: LineOutcome
    lines: number
    quantity: number
    amount_nanos: bigint
    our_quantity: number
    our_amount_nanos: bigint
  }>`
    SELECT outcome, count(*) AS lines, coalesce(sum(quantity), 0) AS quantity,
      CAST(coalesce(sum(amount_nanos), 0) AS bigint) AS amount_nanos,
      coalesce(sum(our_quantity), 0) AS our_quantity,
      CAST(coalesce(sum(our_amount_nanos), 0) AS bigint) AS our_amount_nanos
    FROM statement_lines WHERE statement_id = ${statementId} GROUP BY outcome`.execute(db)
  return rows.map((row) => ({
    outcome: row.outcome,
    lines: row.lines,
    quantity: row.quantity,
    amountNanos: row.amount_nanos,
    ourQuantity: row.our_quantity,
    ourAmountNanos: row.our_amount_nanos,
  }))
}

export async function insertStatement(tx: Kysely<Schema>, statement: Statement): Promise<void> {
  const { id, atMs, channel, name, fromMs, untilMs, body } = statement
  await tx
    .insertInto('statements')
    .values({ id, at_ms: atMs, channel, name, from_ms: fromMs, until_ms: untilMs, body })
    .execute()
}

export async function findStatement(
  db: Kysely<Schema>,
  id: string,
): Promise<Statement | undefined> {
  if (id.includes('\0')) return undefined
  const row = await db.selectFrom('statements').selectAll().where('id', '=', id).executeTakeFirst()
  return row && shape(row)
}

/** Newest first: ids begin with their time. */
export async function listStatements(
  db: Kysely<Schema>,
  { limit, cursor, channel }: PageQuery & { channel?: string | undefined },
): Promise<Page<Statement>> {
  let query = db
    .selectFrom('statements')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (cursor !== undefined) query = query.where('id', '<', textCursor(cursor))
  if (channel !== undefined) query = query.where('channel', '=', channel)
  return pageOf(await query.execute(), limit, (row) => row.id, shape)
}

/** Deletes the statement; its lines are deleted separately. */
export async function dropStatement(tx: Kysely<Schema>, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('statements')
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows === 1n
}

/** Deletes up to this many lines; returns how many. */
export async function dropLines(
  tx: Kysely<Schema>,
  statementId: string,
  limit: number,
): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('statement_lines')
    .where('statement_id', '=', statementId)
    .where('number', 'in', (e) =>
      e
        .selectFrom('statement_lines')
        .select('number')
        .where('statement_id', '=', statementId)
        .orderBy('number')
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Ids before this one that have lines but no statement. */
export async function unfinishedBefore(db: Kysely<Schema>, beforeId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    WITH RECURSIVE ids(id) AS (
      SELECT min(statement_id) FROM statement_lines
      UNION ALL
      SELECT (SELECT min(statement_id) FROM statement_lines WHERE statement_id > ids.id)
      FROM ids WHERE ids.id IS NOT NULL
    )
    SELECT id FROM ids
    WHERE id < ${beforeId} AND NOT EXISTS (SELECT 1 FROM statements s WHERE s.id = ids.id)
    LIMIT 100`.execute(db)
  return rows.map(({ id }) => id)
}

const shape = (row: Selectable<Schema['statements']>): Statement => ({
  id: row.id,
  atMs: row.at_ms,
  channel: row.channel,
  name: row.name,
  fromMs: row.from_ms,
  untilMs: row.until_ms,
  body: row.body,
})

const shapeLine = (row: Selectable<Schema['statement_lines']>): JudgedLine => ({
  number: row.number,
  outcome: row.outcome as LineOutcome,
  ...(row.at_ms !== null && { atMs: row.at_ms }),
  ...(row.model !== null && { model: row.model }),
  ...(row.upstream_id !== null && { upstreamId: row.upstream_id }),
  ...(row.quantity !== null && { quantity: row.quantity }),
  ...(row.amount_nanos !== null && { amountNanos: row.amount_nanos }),
  ...(row.ref !== null && { ref: row.ref }),
  ...(row.our_quantity !== null && { ourQuantity: row.our_quantity }),
  ...(row.our_amount_nanos !== null && { ourAmountNanos: row.our_amount_nanos }),
  ...(row.reason !== null && { reason: row.reason as LineReason }),
  ...(row.cost_nanos !== null && { costNanos: row.cost_nanos }),
  ...(row.currency !== null && { currency: row.currency }),
})
