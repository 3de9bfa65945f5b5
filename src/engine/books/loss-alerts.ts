// Alerts for losses: one open alert for each account and reason, with the sum in its message.
// Losses of a short time are one write, and an account is written at most once per interval,
// however many losses it has; a failed write is repeated later.
import { LossSum } from '../../billing/loss-sum.ts'
import type { Loss } from '../../contract/ledger.ts'
import type { RequestRecord } from '../../contract/requests.ts'
import { LoopService } from '../../lib/loop.ts'
import { raiseAlert } from '../../store/catalog/alerts.ts'
import type { BaseDeps } from '../base-deps.ts'
import type { Meters } from '../telemetry/metrics/meters.ts'

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

interface LossAlertDeps extends BaseDeps {
  readonly meters?: Meters
}

export class LossAlerts extends LoopService {
  readonly #deps: LossAlertDeps
  /** Bounded by accounts times reasons. */
  readonly #sums = new Map<string, Pending>()

  constructor(deps: LossAlertDeps) {
    super({
      name: 'loss-alerts',
      // Only when there is a loss.
      everyMs: Number.POSITIVE_INFINITY,
      retryMs: quietMs,
      log: deps.log,
      failure: 'an alert about losses could not be written',
    })
    this.#deps = deps
  }

  /** Writes what is pending; after this nothing is written in the background. */
  override async stop(): Promise<void> {
    await super.stop()
    await this.#write(this.#unsent()).catch(() => {})
  }

  /** A loss has been recorded: counts it and raises an alert. */
  announce(loss: Loss): void {
    this.#deps.meters?.loss(loss)
    this.add(loss)
  }

  /** The losses in a call's log row. */
  addOfCall({ accountId, requestId, detail }: RequestRecord): void {
    for (const { reason, nanos } of detail.loss ?? []) {
      this.add({ accountId, reason, ref: requestId, amountNanos: BigInt(nanos) })
    }
  }

  add({ accountId, reason, ref, amountNanos }: LossFacts): void {
    if (amountNanos <= 0n) return
    const subject = `${accountId} ${reason}`
    const pending = this.#sums.get(subject) ?? {
      sum: new LossSum(accountId, reason),
      isNew: true,
      notBeforeMs: 0,
    }
    this.#sums.set(subject, pending)
    pending.sum.add(ref, amountNanos)
    pending.isNew = true
    this.wake(Math.max(gatherMs, pending.notBeforeMs - performance.now()))
  }

  #unsent(): Pending[] {
    return [...this.#sums.values()].filter(({ isNew }) => isNew)
  }

  /** Returns after how long the next write is due. */
  protected override async run(): Promise<number | undefined> {
    const nowMs = performance.now()
    const due = this.#unsent().filter(({ notBeforeMs }) => notBeforeMs <= nowMs)
    for (const pending of due) {
      pending.isNew = false
      pending.notBeforeMs = nowMs + quietMs
    }
    try {
      await this.#write(due)
    } catch (error) {
      for (const pending of due) pending.isNew = true
      throw error
    }
    const waits = this.#unsent().map(({ notBeforeMs }) => notBeforeMs - performance.now())
    return waits.length === 0 ? undefined : Math.min(...waits)
  }

  async #write(due: readonly Pending[]): Promise<void> {
    const { store, clock } = this.#deps
    if (due.length === 0) return
    const atMs = clock.nowMs()
    // A fixed order: gateways that write concurrently must not deadlock.
    const ordered = due.map(({ sum }) => alertOf(sum, atMs)).sort(bySubject)
    await store.tx(async (tx) => {
      for (const alert of ordered) await raiseAlert(tx, alert)
    })
  }
}

const bySubject = (a: { subject: string }, b: { subject: string }): number =>
  a.subject < b.subject ? -1 : 1

const alertOf = ({ accountId, reason, message }: LossSum, atMs: number) => ({
  kind,
  subject: `${accountId} ${reason}`,
  message,
  atMs,
})
