// Closes the month of a channel: what was billed, our costs and what explains the difference are signed and
// stored permanently, in one transaction with the audit log. What upstreams bill later is shown beside it.
import { crashPoint } from '../../lib/crash-point.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { monthBounds } from '../../lib/text/month.ts'
import { Rollback, type Store, type Tx } from '../../store/index.ts'
import {
  type ChannelMonth,
  findChannelMonth,
  insertChannelMonth,
  lockStatements,
} from '../../store/ledger/channel-months.ts'
import type { LineReason } from '../../store/ledger/statements.ts'
import { countedIn, isExplained, type MonthFigures, readChannelMonth } from './month-of-channel.ts'

interface ReasonRow {
  reason: LineReason
  lines: number
  invoice: string
  ours: string
  difference: string
  explained: boolean
}

/** The text of it, as JSON, is what is signed. */
export interface ClosedChannelMonth {
  kind: 'channel_month'
  channel: string
  month: string
  currency: string
  invoice: string
  ours: string
  difference: string
  explained_by: readonly ReasonRow[]
  unexplained_lines: number
  missing_days: readonly string[]
  statements: readonly { id: string; name: string }[]
  /** The difference as it was accepted. */
  booked: { amount: string; by: string; at: string; note: string | null; reason: string | null }
}

interface ChannelMonthDeps {
  store: Store
  clock: { nowMs(): number }
  currency: string
  signer: { sign(text: string): { key: string; signature: string } }
}

interface ClosingOrder {
  channel: string
  month: string
  by: string
  note: string | undefined
  /** Why it is closed although lines are unexplained or days have no statement. */
  reason: string | undefined
  requestKey: string | undefined
}

export type ChannelClosing =
  | { kind: 'closed'; closed: ChannelMonth; again: boolean }
  /** By another call. */
  | { kind: 'closed_before'; closed: ChannelMonth }
  | { kind: 'too_early'; fromMs: number }
  | { kind: 'needs_reason'; lines: number; days: number }
  /** Statements were deleted or added meanwhile. */
  | { kind: 'changing' }

const maxTries = 5

/** `alongside` runs in the transaction that closes the month, and only if this call closes it. */
export async function closeChannelMonth(
  deps: ChannelMonthDeps,
  order: ClosingOrder,
  alongside: (tx: Tx, closed: ClosedChannelMonth) => Promise<void>,
): Promise<ChannelClosing> {
  const before = await findChannelMonth(deps.store.read, order.channel, order.month)
  if (before !== undefined) return knownClosing(before, order)
  const { untilMs } = monthBounds(order.month)!
  if (deps.clock.nowMs() < untilMs) return { kind: 'too_early', fromMs: untilMs }
  for (let tries = 1; ; tries++) {
    const done = await tryToClose(deps, order, alongside)
    if (done.kind !== 'changing' || tries === maxTries) return done
  }
}

const knownClosing = (closed: ChannelMonth, { requestKey }: ClosingOrder): ChannelClosing =>
  requestKey !== undefined && closed.requestKey === requestKey
    ? { kind: 'closed', closed, again: true }
    : { kind: 'closed_before', closed }

async function tryToClose(
  deps: ChannelMonthDeps,
  order: ClosingOrder,
  alongside: (tx: Tx, closed: ClosedChannelMonth) => Promise<void>,
): Promise<ChannelClosing> {
  const { store, signer, clock } = deps
  const { channel, month, requestKey } = order
  const asked = { channel, month, nowMs: clock.nowMs() }
  const read = await readChannelMonth(store.read, asked)
  const { unexplainedLines: lines, missingDays, counted } = read
  if ((lines > 0 || missingDays.length > 0) && order.reason === undefined) {
    return { kind: 'needs_reason', lines, days: missingDays.length }
  }
  const record = recordOf(deps, order, { ...read, atMs: asked.nowMs })
  const body = JSON.stringify(record)
  const closed = { channel, month, closedAtMs: asked.nowMs, requestKey, body, ...signer.sign(body) }
  // Also those beside the month: they may name work of it.
  const ids = counted.near.toSorted()
  crashPoint('channel-month-closing')
  try {
    await store.tx(async (tx) => {
      // Lines never change: with the same statements, the figures are the same.
      await lockStatements(tx, store.dialect, ids)
      const now = (await countedIn(tx, asked)).counted.near.toSorted()
      if (now.join() !== ids.join()) throw new Rollback<ChannelClosing>({ kind: 'changing' })
      if (!(await insertChannelMonth(tx, closed))) {
        const before = (await findChannelMonth(tx, channel, month))!
        throw new Rollback<ChannelClosing>(knownClosing(before, order))
      }
      await alongside(tx, record)
    })
    crashPoint('channel-month-closed')
    return { kind: 'closed', closed, again: false }
  } catch (error) {
    if (error instanceof Rollback) return error.result
    throw error
  }
}

function recordOf(
  { currency }: ChannelMonthDeps,
  { channel, month, by, note, reason }: ClosingOrder,
  read: Awaited<ReturnType<typeof readChannelMonth>> & { atMs: number },
): ClosedChannelMonth {
  const figures = figureRows(read)
  const at = new Date(read.atMs).toISOString()
  return {
    kind: 'channel_month',
    ...{ channel, month, currency, ...figures },
    missing_days: read.missingDays,
    statements: read.statements.map(({ id, name }) => ({ id, name })),
    booked: { amount: figures.difference, by, at, note: note ?? null, reason: reason ?? null },
  }
}

/** Both sides of a line, as decimals. */
export const lineAmounts = ({
  amountNanos,
  costNanos,
}: {
  amountNanos: bigint
  costNanos: bigint
}) => ({
  amount: formatNanos(amountNanos),
  our_amount: formatNanos(costNanos),
  difference: formatNanos(amountNanos - costNanos),
})

/** Figures as decimals of the ledger's currency. */
export function figureRows({ invoiceNanos, oursNanos, reasons, unexplainedLines }: MonthFigures) {
  return {
    invoice: formatNanos(invoiceNanos),
    ours: formatNanos(oursNanos),
    difference: formatNanos(invoiceNanos - oursNanos),
    explained_by: reasons.map(
      ({ reason, lines, amountNanos, costNanos }): ReasonRow => ({
        reason,
        lines,
        invoice: formatNanos(amountNanos),
        ours: formatNanos(costNanos),
        difference: formatNanos(amountNanos - costNanos),
        explained: isExplained(reason),
      }),
    ),
    unexplained_lines: unexplainedLines,
  }
}
