// Alerts for losses: one open alert for each account and reason, with the sum in its message.
// Losses of a short time are one write, and an account is written at most once per interval,
// however many losses it has; a failed write is repeated later.
import { LossSum } from '../../billing/loss-sum.ts'
import type { Loss } from '../../contract/ledger.ts'
import type { RequestRecord } from '../../contract/requests.ts'
import { raiseAlert } from '../../store/catalog/alerts.ts'
import type { Engine } from '../engine.ts'

const kind = 'loss'
/** Losses that occur together share one write. */
const gatherMs = 50
/** Minimum time between two writes for the same account and reason. */
const quietMs = 10_000

type LossFacts = Pick<Loss, 'accountId' | 'reason' | 'ref' | 'amountNanos'>

interface Pending {
  /** Since this process started. */
  sum: LossSum
  /** Not yet in an alert. */
  isNew: boolean
  /** By the monotonic clock. */
  notBeforeMs: number
}

interface Watch {
  /** Bounded by accounts times reasons. */
  sums: Map<string, Pending>
  timer: ReturnType<typeof setTimeout> | undefined
  /** When the timer is due, by the monotonic clock; 0 while alerts are being written. */
  dueMs: number
}
const watches = new WeakMap<Engine, Watch>()

export function alertLoss(
  engine: Engine,
  { accountId, reason, ref, amountNanos }: LossFacts,
): void {
  if (amountNanos <= 0n) return
  const watch = watches.get(engine) ?? { sums: new Map(), timer: undefined, dueMs: 0 }
  watches.set(engine, watch)
  const subject = `${accountId} ${reason}`
  const pending = watch.sums.get(subject) ?? {
    sum: new LossSum(accountId, reason),
    isNew: true,
    notBeforeMs: 0,
  }
  watch.sums.set(subject, pending)
  pending.sum.add(ref, amountNanos)
  pending.isNew = true
  later(engine, watch, pending.notBeforeMs)
}

/** A loss has been recorded: counts it and raises an alert. */
export function announceLoss(engine: Engine, loss: Loss): void {
  engine.meters?.loss(loss)
  alertLoss(engine, loss)
}

/** The losses in a call's log row. */
export function recordLoss(engine: Engine, { accountId, requestId, detail }: RequestRecord): void {
  for (const { reason, nanos } of detail.loss ?? []) {
    alertLoss(engine, { accountId, reason, ref: requestId, amountNanos: BigInt(nanos) })
  }
}

/** Writes what is pending; after this nothing is written in the background. */
export async function closeLossAlerts(engine: Engine): Promise<void> {
  const watch = watches.get(engine)
  if (watch === undefined) return
  clearTimeout(watch.timer)
  watches.delete(engine)
  await raiseAlerts(engine, unsent(watch)).catch(() => {})
}

const unsent = ({ sums }: Watch): Pending[] => [...sums.values()].filter(({ isNew }) => isNew)

/** Schedules a write for that time. */
function later(engine: Engine, watch: Watch, notBeforeMs: number): void {
  const nowMs = performance.now()
  const dueMs = Math.max(nowMs + gatherMs, notBeforeMs)
  if (watch.timer !== undefined && watch.dueMs <= dueMs) return
  clearTimeout(watch.timer)
  watch.dueMs = dueMs
  watch.timer = setTimeout(() => void run(engine, watch), dueMs - nowMs)
  watch.timer.unref()
}

async function run(engine: Engine, watch: Watch): Promise<void> {
  watch.dueMs = 0
  const nowMs = performance.now()
  const due = unsent(watch).filter(({ notBeforeMs }) => notBeforeMs <= nowMs)
  for (const pending of due) {
    pending.isNew = false
    pending.notBeforeMs = nowMs + quietMs
  }
  try {
    await raiseAlerts(engine, due)
  } catch (error) {
    for (const pending of due) pending.isNew = true
    engine.log.warn('an alert about losses could not be written', { error })
  }
  watch.timer = undefined
  const waiting = unsent(watch)
  if (watches.get(engine) !== watch || waiting.length === 0) return
  later(engine, watch, Math.min(...waiting.map(({ notBeforeMs }) => notBeforeMs)))
}

async function raiseAlerts(engine: Engine, due: readonly Pending[]): Promise<void> {
  if (due.length === 0) return
  const atMs = engine.clock.nowMs()
  // A fixed order: gateways that write concurrently must not deadlock.
  const ordered = due.map(({ sum }) => alertOf(sum, atMs)).sort(bySubject)
  await engine.store.tx(async (tx) => {
    for (const alert of ordered) await raiseAlert(tx, alert)
  })
}

const bySubject = (a: { subject: string }, b: { subject: string }): number =>
  a.subject < b.subject ? -1 : 1

const alertOf = ({ accountId, reason, message }: LossSum, atMs: number) => ({
  kind,
  subject: `${accountId} ${reason}`,
  message,
  atMs,
})
