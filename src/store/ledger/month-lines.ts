// Lines of statements as a month of a channel counts them: parts of several statements, lines that are compared
// together as one, each with what explains it.
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import type { LineReason, Statement } from './statements.ts'

type Db = Kysely<Schema>

/** A part of a statement: its lines of some days. */
export interface Slice {
  statement: Statement
  fromMs: number
  untilMs: number
}

export interface CountedLines {
  slices: readonly Slice[]
  /** Statements that may name work that others do not have. */
  near: readonly string[]
  /** Only lines that none of these statements has. */
  notIn?: readonly string[] | undefined
}

/** Statements of a channel that have a moment in common with the period, newest first. */
export async function statementsWithin(
  db: Db,
  { channel, fromMs, untilMs }: { channel: string; fromMs: number; untilMs: number },
): Promise<Statement[]> {
  const rows = await db
    .selectFrom('statements')
    .selectAll()
    .where('channel', '=', channel)
    .where('from_ms', '<', untilMs)
    .where('until_ms', '>', fromMs)
    .orderBy('id', 'desc')
    .execute()
  return rows.map(({ at_ms, from_ms, until_ms, ...row }) => ({
    ...row,
    atMs: at_ms,
    fromMs: from_ms,
    untilMs: until_ms,
  }))
}

/** Names of channels that have statements of the period. */
export async function channelsWithStatements(
  db: Db,
  { fromMs, untilMs }: { fromMs: number; untilMs: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('statements')
    .select('channel')
    .distinct()
    .where('from_ms', '<', untilMs)
    .where('until_ms', '>', fromMs)
    .execute()
  return rows.map(({ channel }) => channel)
}

export interface ReasonSum {
  reason: LineReason
  lines: number
  amountNanos: bigint
  costNanos: bigint
}

export async function sumReasons(db: Db, counted: CountedLines): Promise<ReasonSum[]> {
  if (counted.slices.length === 0) return []
  const { rows } = await sql<{
    reason: LineReason
    lines: number
    amount_nanos: bigint
    cost_nanos: bigint
  }>`
    SELECT reason, count(*) AS lines, CAST(sum(amount_nanos) AS bigint) AS amount_nanos,
      CAST(sum(cost_nanos) AS bigint) AS cost_nanos
    FROM (${rowsOf(counted)}) AS l WHERE reason <> 'elsewhere' GROUP BY reason`.execute(db)
  return rows.map(({ reason, lines, amount_nanos, cost_nanos }) => ({
    reason,
    lines,
    amountNanos: amount_nanos,
    costNanos: cost_nanos,
  }))
}

/** Lines that are compared together, as one. */
export interface MonthLine {
  statementId: string
  number: number
  reason: LineReason
  atMs: number | null
  model: string | null
  upstreamId: string | null
  ref: string | null
  quantity: number | null
  ourQuantity: number | null
  amountNanos: bigint
  costNanos: bigint
  currency: string | null
}

interface LineFilter {
  reasons?: readonly LineReason[] | undefined
  /** The last line of the page before. */
  after?: { statementId: string; number: number } | undefined
  limit: number
}

/** In order of statements and lines. */
export async function listMonthLines(
  db: Db,
  counted: CountedLines,
  { reasons, after = { statementId: '', number: 0 }, limit }: LineFilter,
): Promise<MonthLine[]> {
  if (counted.slices.length === 0 || reasons?.length === 0) return []
  const named = reasons === undefined ? sql`` : sql`AND reason IN (${sql.join(reasons)})`
  const { rows } = await sql<{
    statement_id: string
    number: number
    reason: LineReason
    at_ms: number | null
    model: string | null
    upstream_id: string | null
    ref: string | null
    quantity: number | null
    our_quantity: number | null
    amount_nanos: bigint
    cost_nanos: bigint
    currency: string | null
  }>`
    SELECT * FROM (${rowsOf(counted)}) AS l
    WHERE (statement_id, number) > (${after.statementId}, ${after.number})
      AND reason <> 'elsewhere' ${named}
    ORDER BY statement_id, number LIMIT ${limit}`.execute(db)
  return rows.map((row) => ({
    statementId: row.statement_id,
    number: row.number,
    reason: row.reason,
    atMs: row.at_ms,
    model: row.model,
    upstreamId: row.upstream_id,
    ref: row.ref,
    quantity: row.quantity,
    ourQuantity: row.our_quantity,
    amountNanos: row.amount_nanos,
    costNanos: row.cost_nanos,
    currency: row.currency,
  }))
}

const rowsOf = ({ slices, near, notIn }: CountedLines): RawBuilder<unknown> =>
  sql.join(
    slices.map((slice) => rowsOfSlice(slice, near, notIn)),
    sql` UNION ALL `,
  )

/** A line that the statement dates outside its period counts at the period's end. */
function rowsOfSlice(
  { statement, fromMs, untilMs }: Slice,
  near: readonly string[],
  notIn: readonly string[] | undefined,
): RawBuilder<unknown> {
  const [first, last] = [statement.fromMs, statement.untilMs - 1]
  const at = sql`CASE WHEN l.at_ms IS NULL OR l.at_ms < ${first} THEN ${first}
    WHEN l.at_ms > ${last} THEN ${last} ELSE l.at_ms END`
  return sql`
    SELECT l.statement_id, l.number, l.at_ms, l.model, l.upstream_id, l.ref, l.our_quantity,
      coalesce(l.their_quantity, l.quantity) AS quantity,
      coalesce(l.their_nanos, l.amount_nanos, 0) AS amount_nanos,
      coalesce(l.cost_nanos, l.our_amount_nanos, 0) AS cost_nanos, l.currency,
      ${reasonOf(statement.id, near)} AS reason
    FROM statement_lines l
    WHERE l.statement_id = ${statement.id} AND l.part_of IS NULL
      AND ${at} >= CAST(${fromMs} AS bigint) AND ${at} < CAST(${untilMs} AS bigint)
      ${notIn === undefined ? sql`` : missingIn(notIn)}`
}

/** Work that another statement names is counted there, or is late there. */
function reasonOf(statementId: string, near: readonly string[]): RawBuilder<unknown> {
  const others = near.filter((id) => id !== statementId)
  const own = sql`WHEN l.reason IS NOT NULL THEN l.reason
    WHEN l.outcome = 'amount_differs' THEN 'price_differs' ELSE l.outcome END`
  if (others.length === 0) return sql`CASE ${own}`
  // Written so that the planner searches by the upstream's id, not by statements.
  return sql`CASE WHEN l.outcome = 'gateway_only' THEN coalesce((
      SELECT CASE WHEN max(CASE WHEN o.reason = 'late' THEN 0 ELSE 1 END) = 1
        THEN 'elsewhere' ELSE 'late' END
      FROM statement_lines o WHERE o.upstream_id = l.upstream_id AND o.outcome <> 'gateway_only'
        AND o.statement_id || '' IN (${sql.join(others)}) HAVING count(*) > 0), 'gateway_only')
    ${own}`
}

/** The same line of an upstream: by its id, or by its time and model; and the same amount. */
const missingIn = (statementIds: readonly string[]): RawBuilder<unknown> =>
  statementIds.length === 0
    ? sql``
    : sql`AND l.outcome <> 'gateway_only' AND NOT EXISTS (
      SELECT 1 FROM statement_lines c
      WHERE c.statement_id || '' IN (${sql.join(statementIds)}) AND c.part_of IS NULL
        AND l.upstream_id IS NOT NULL AND c.upstream_id = l.upstream_id
        AND coalesce(c.their_nanos, c.amount_nanos, 0) = coalesce(l.their_nanos, l.amount_nanos, 0))
      AND NOT EXISTS (
      SELECT 1 FROM statement_lines c
      WHERE c.statement_id IN (${sql.join(statementIds)}) AND c.part_of IS NULL
        AND l.upstream_id IS NULL AND c.upstream_id IS NULL
        AND coalesce(c.at_ms, 0) = coalesce(l.at_ms, 0) AND coalesce(c.model, '') = coalesce(l.model, '')
        AND coalesce(c.their_nanos, c.amount_nanos, 0) = coalesce(l.their_nanos, l.amount_nanos, 0))`
