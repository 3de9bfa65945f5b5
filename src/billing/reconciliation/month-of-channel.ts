// A month of a channel: what its upstream billed, what its work should have cost, and what explains the
// difference. Of statements that overlap, the newest counts for each day. Closes nothing.
import { monthBounds } from '../../lib/text/month.ts'
import type { Tx } from '../../store/index.ts'
import {
  type CountedLines,
  type ReasonSum,
  type Slice,
  statementsWithin,
  sumReasons,
} from '../../store/ledger/month-lines.ts'
import { type LineReason, lineReasons, type Statement } from '../../store/ledger/statements.ts'
import type { StatementBody } from './import-statement.ts'

/** What needs no question to the upstream and no decision. */
const settled: ReadonlySet<LineReason> = new Set(['matched', 'rounding', 'late', 'loss'])
export const isExplained = (reason: LineReason): boolean => settled.has(reason)
export const unexplainedReasons = lineReasons.filter((reason) => !settled.has(reason))

/** What says how much a month was, and why. */
export interface MonthFigures {
  invoiceNanos: bigint
  oursNanos: bigint
  /** Most important first; none without lines. */
  reasons: readonly ReasonSum[]
  unexplainedLines: number
}

interface MonthOfChannel extends MonthFigures {
  counted: CountedLines
  /** Those that count for some of its days. */
  statements: readonly Statement[]
  /** Days that are over and that no statement is about, as in 2026-11-03. */
  missingDays: readonly string[]
}

const dayMs = 86_400_000
/** Work may be billed a day before or after, by a statement of another month. */
const beyondMs = 2 * dayMs
/** The widest offsets of clocks from UTC. */
const maxZoneMs = 14 * 3_600_000

interface Asked {
  channel: string
  month: string
  nowMs: number
}

/** `only`: the statements that counted when it was closed. */
export async function countedIn(
  db: Tx,
  { channel, month, nowMs }: Asked,
  only?: readonly string[],
): Promise<Pick<MonthOfChannel, 'counted' | 'statements' | 'missingDays'>> {
  const { fromMs, untilMs } = monthBounds(month)!
  const period = {
    fromMs: fromMs - beyondMs - maxZoneMs,
    untilMs: untilMs + beyondMs + maxZoneMs,
  }
  const known = await statementsWithin(db, { channel, ...period })
  const usable = only === undefined ? known : known.filter(({ id }) => only.includes(id))
  const slices: Slice[] = []
  const missingDays: string[] = []
  for (let dayFromMs = fromMs; dayFromMs < untilMs; dayFromMs += dayMs) {
    const statement = usable.find((each) => isAbout(each, dayFromMs))
    if (statement !== undefined) addDay(slices, statement, dayFromMs)
    else if (dayFromMs + dayMs <= nowMs) {
      missingDays.push(new Date(dayFromMs).toISOString().slice(0, 10))
    }
  }
  const near = new Set(slices.map(({ statement }) => statement.id))
  for (const edgeMs of [fromMs - dayMs, fromMs - beyondMs, untilMs, untilMs + dayMs]) {
    const beside = known.find((each) => isAbout(each, edgeMs))
    if (beside !== undefined) near.add(beside.id)
  }
  const statements = [...new Map(slices.map((slice) => [slice.statement.id, slice.statement]))]
  return {
    counted: { slices, near: [...near] },
    statements: statements.map(([, statement]) => statement),
    missingDays,
  }
}

/** Days are those of the statement's own clock. */
const zoneOf = ({ body }: Statement): number => (JSON.parse(body) as StatementBody).zone_ms

function isAbout(statement: Statement, dayFromMs: number): boolean {
  const from = dayFromMs - zoneOf(statement)
  return statement.fromMs < from + dayMs && statement.untilMs > from
}

function addDay(slices: Slice[], statement: Statement, dayFromMs: number): void {
  const fromMs = dayFromMs - zoneOf(statement)
  const last = slices.at(-1)
  if (last !== undefined && last.statement.id === statement.id && last.untilMs === fromMs) {
    last.untilMs += dayMs
  } else {
    slices.push({ statement, fromMs, untilMs: fromMs + dayMs })
  }
}

export async function figuresOf(db: Tx, counted: CountedLines): Promise<MonthFigures> {
  const sums = await sumReasons(db, counted)
  const reasons = lineReasons.flatMap((reason) => sums.find((sum) => sum.reason === reason) ?? [])
  return {
    invoiceNanos: reasons.reduce((sum, { amountNanos }) => sum + amountNanos, 0n),
    oursNanos: reasons.reduce((sum, { costNanos }) => sum + costNanos, 0n),
    reasons,
    unexplainedLines: reasons.reduce(
      (sum, { reason, lines }) => sum + (settled.has(reason) ? 0 : lines),
      0,
    ),
  }
}

export async function readChannelMonth(db: Tx, asked: Asked): Promise<MonthOfChannel> {
  const found = await countedIn(db, asked)
  return { ...found, ...(await figuresOf(db, found.counted)) }
}
