// A month of a channel as the admin API shows it: from its statements while it is open, as it was signed once it is
// closed, with what was billed since.
import {
  type ClosedChannelMonth,
  figureRows,
  lineAmounts,
} from '../../billing/reconciliation/close-channel-month.ts'
import { countedIn, figuresOf } from '../../billing/reconciliation/month-of-channel.ts'
import { billDeps } from '../../engine/books/bill-deps.ts'
import type { Engine } from '../../engine/engine.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { monthBounds } from '../../lib/text/month.ts'
import { inSnapshot, type Tx } from '../../store/index.ts'
import {
  type ChannelMonth,
  findChannelMonth,
  listChannelMonths,
} from '../../store/ledger/channel-months.ts'
import {
  type CountedLines,
  channelsWithStatements,
  type MonthLine,
} from '../../store/ledger/month-lines.ts'
import type { Statement } from '../../store/ledger/statements.ts'
import { time } from '../answers.ts'
import type { View } from '../route.ts'
import type { channelMonth, monthLine } from './month-schema.ts'

/** Channels that there are, that have statements of the month, or whose month is closed. */
export async function channelsOf({ store, catalog }: Engine, month: string): Promise<string[]> {
  const billed = await channelsWithStatements(store.read, monthBounds(month)!)
  const closed = await listChannelMonths(store.read, { month })
  const names = [...catalog.channels.map(({ name }) => name), ...billed]
  return [...new Set([...names, ...closed.map(({ channel }) => channel)])].toSorted()
}

export const closingIn = ({ body }: ChannelMonth) => JSON.parse(body) as ClosedChannelMonth

/** What counts in the month: when it was closed, or now; `late`: what was billed since. */
export async function countedLines(
  db: Tx,
  asked: { channel: string; month: string; nowMs: number },
  closed: ChannelMonth | undefined,
): Promise<{ counted: CountedLines; late?: CountedLines; statements: readonly Statement[] }> {
  if (closed === undefined) return countedIn(db, asked)
  const then = closingIn(closed).statements.map(({ id }) => id)
  const { counted, statements } = await countedIn(db, asked, then)
  const now = await countedIn(db, asked)
  const slices = now.counted.slices.filter(({ statement }) => !then.includes(statement.id))
  return { counted, statements, late: { slices, near: now.counted.near, notIn: then } }
}

export const viewChannelMonth = (
  engine: Engine,
  channel: string,
  month: string,
): Promise<View<typeof channelMonth>> =>
  inSnapshot(engine.store, async (db) => {
    const asked = { channel, month, nowMs: engine.clock.nowMs() }
    const closed = await findChannelMonth(db, channel, month)
    return closed === undefined
      ? viewOpen(engine, db, asked)
      : viewClosed(engine, db, asked, closed)
  })

type Asked = Parameters<typeof countedLines>[1]

const statementView = ({ id, name, fromMs, untilMs }: Statement) => ({
  ...{ id, name },
  from: time(fromMs),
  to: time(untilMs),
})

async function viewOpen({ declared }: Engine, db: Tx, asked: Asked) {
  const { channel, month } = asked
  const { counted, statements, missingDays } = await countedIn(db, asked)
  const rows = figureRows(await figuresOf(db, counted))
  const hasNone = statements.length === 0
  return {
    ...{ channel, month, state: 'open' as const, currency: declared.file.currency, ...rows },
    ...(hasNone && { invoice: null, ours: null, difference: null }),
    missing_days: missingDays,
    statements: statements.map(statementView),
    late_lines: 0,
    late_amount: formatNanos(0n),
    closing: null,
    is_signed: null,
  }
}

async function viewClosed(engine: Engine, db: Tx, asked: Asked, closed: ChannelMonth) {
  const record = closingIn(closed)
  const { statements, late } = await countedLines(db, asked, closed)
  const { invoiceNanos, reasons } = await figuresOf(db, late!)
  const { key, signature } = closed
  const { channel, month, currency, invoice, ours, difference } = record
  const { explained_by, unexplained_lines, missing_days } = record
  return {
    ...{ channel, month, state: 'closed' as const, currency, invoice, ours, difference },
    ...{ explained_by, unexplained_lines, missing_days },
    statements: statements.map(statementView),
    late_lines: reasons.reduce((sum, { lines }) => sum + lines, 0),
    late_amount: formatNanos(invoiceNanos),
    closing: { ...record, proof: { key, signature } },
    is_signed: billDeps(engine).signer.knows(closed.body, closed),
  }
}

/** The ids of its work are known where the line names it. */
export function lineView(
  currency: string,
  line: MonthLine,
  refs: readonly string[],
): View<typeof monthLine> {
  const { reason, upstreamId, atMs, model, quantity, ourQuantity } = line
  return {
    reason,
    upstream_id: upstreamId,
    day: atMs === null ? null : time(atMs).slice(0, 10),
    at: atMs === null ? null : time(atMs),
    model,
    quantity,
    our_quantity: ourQuantity,
    ...lineAmounts(line),
    currency,
    billed_in: line.currency,
    statement: line.statementId,
    line: line.number,
    request_ids: line.ref === null ? refs : [line.ref],
  }
}
