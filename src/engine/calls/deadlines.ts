// Time limits of upstream work. One coarse sweep covers all calls in flight, because a timer per
// call and per chunk would cost more than the work it guards.
import { InFlight, type Listed } from '../../lib/in-flight.ts'

interface DeadlineLimits {
  readonly firstByteMs: number
  readonly idleMs: number
  readonly totalMs: number
}

/** What is stopped when time is up. */
interface Stoppable {
  cancel(): void
}

const sweepMs = 250
/** A sweep that is later than this shows that the process stood still: stopped, or swapped out. */
const maxLagMs = 1_000
/** How often within the total limit a stream is asked whether it goes on. */
const checksPerTotal = 4
/**
 * After which a waiting caller gets a heartbeat; proxies cut at 30 or 60 s. The upstream need not be
 * silent: not all of its events have something for the caller.
 */
const keepAliveMs = 15_000

/** The last sweep, by the clock of the process. */
interface Swept {
  atMs: number
  nowMs(): number
}

const lagOf = (swept: Swept): number => swept.nowMs() - swept.atMs - sweepMs

/** The limits of one call. */
export class Deadline implements Listed {
  index = -1
  expired = false
  /** It expired because the gateway stops, not because of the upstream. */
  stopped = false
  readonly #all: InFlight<Deadline>
  readonly #nowMs: () => number
  readonly #limits: DeadlineLimits
  readonly #guarded: Stoppable
  readonly #swept: Swept
  #hasStoodStill = false
  /** Start of the total limit. */
  #sinceMs: number
  #lastMs: number
  #idleMs: number
  #caller: Stoppable | undefined
  /** When the caller last got something, or began to wait. */
  #givenMs: number
  #beatMs = 0
  #checkedMs: number
  /** The stream that must go on: its events alone do not show that it does. */
  output: { hasGoneOn(): boolean } | undefined
  /** Gets a heartbeat while the upstream is still working, and is told when the gateway stops. */
  stream: { beat(): void; cut(): void } | undefined

  constructor(
    all: InFlight<Deadline>,
    nowMs: () => number,
    limits: DeadlineLimits,
    guarded: Stoppable,
    swept: Swept,
  ) {
    this.#swept = swept
    this.#all = all
    this.#nowMs = nowMs
    this.#limits = limits
    this.#guarded = guarded
    this.#sinceMs = nowMs()
    this.#lastMs = this.#sinceMs
    this.#givenMs = this.#sinceMs
    this.#checkedMs = this.#sinceMs
    this.#idleMs = limits.firstByteMs
    all.add(this)
  }

  /** Something arrived: from now on the idle limit counts. */
  touch(): void {
    this.#lastMs = this.#nowMs()
    this.#idleMs = this.#limits.idleMs
  }

  /** The gateway itself stood still while this call was under way: no limit is the upstream's fault. */
  get hasStoodStill(): boolean {
    return this.#hasStoodStill || lagOf(this.#swept) > maxLagMs
  }

  /** Gives back time in which the gateway stood still. */
  standStill(forMs: number, nowMs: number): void {
    this.#hasStoodStill = true
    this.#sinceMs = Math.min(nowMs, this.#sinceMs + forMs)
    this.#lastMs = Math.min(nowMs, this.#lastMs + forMs)
    this.#givenMs = Math.min(nowMs, this.#givenMs + forMs)
    this.#checkedMs = Math.min(nowMs, this.#checkedMs + forMs)
  }

  /** The caller gets something. */
  give(): void {
    this.#givenMs = this.#lastMs
  }

  /** The caller must read now: if it does not, the caller is cut off, not the upstream. */
  awaitCaller(caller: Stoppable | undefined): void {
    const nowMs = this.#nowMs()
    // Time that the caller takes does not count as the upstream's.
    if (this.#caller !== undefined) this.#sinceMs += nowMs - this.#lastMs
    this.#caller = caller
    this.#lastMs = nowMs
    this.#givenMs = nowMs
  }

  end(): void {
    this.#all.delete(this)
  }

  /** The gateway ends: time is up, whatever the limits are. */
  stop(): void {
    this.stopped = true
    this.#expire()
    this.stream?.cut()
  }

  check(nowMs: number): void {
    const silentMs = nowMs - this.#lastMs
    const caller = this.#caller
    this.#checkOutput(nowMs)
    const isLate = caller === undefined && nowMs - this.#sinceMs > this.#limits.totalMs
    if (silentMs <= this.#idleMs && !isLate) {
      const waitedMs = nowMs - Math.max(this.#givenMs, this.#beatMs)
      if (waitedMs > keepAliveMs) this.#beat(nowMs)
      return
    }
    if (caller !== undefined) {
      this.awaitCaller(undefined)
      caller.cancel()
      return
    }
    this.#expire()
  }

  /** The total limit bounds the time without output, not the whole stream. */
  #checkOutput(nowMs: number): void {
    if (nowMs - this.#checkedMs < this.#limits.totalMs / checksPerTotal) return
    this.#checkedMs = nowMs
    if (this.output?.hasGoneOn()) this.#sinceMs = this.#lastMs
  }

  #expire(): void {
    this.expired = true
    this.end()
    this.#guarded.cancel()
  }

  #beat(nowMs: number): void {
    this.#beatMs = nowMs
    if (this.#caller === undefined) this.stream?.beat()
  }
}

export class Deadlines {
  readonly #open = new InFlight<Deadline>()
  readonly #nowMs: () => number
  readonly #swept: Swept
  #stillUntilMs = Number.NEGATIVE_INFINITY
  readonly #timer: ReturnType<typeof setInterval>

  /** `processMs` shows when the process stood still; `nowMs` may be moved by a test. */
  constructor(nowMs: () => number, processMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
    this.#swept = { atMs: processMs(), nowMs: processMs }
    this.#timer = setInterval(() => this.sweep(), sweepMs)
    this.#timer.unref()
  }

  start(limits: DeadlineLimits, guarded: Stoppable): Deadline {
    return new Deadline(this.#open, this.#nowMs, limits, guarded, this.#swept)
  }

  sweep(): void {
    const nowMs = this.#nowMs()
    const lagMs = lagOf(this.#swept)
    this.#swept.atMs = this.#swept.nowMs()
    if (lagMs > maxLagMs) {
      this.#stillUntilMs = this.#swept.atMs
      for (const each of this.#open) each.standStill(lagMs, nowMs)
    }
    for (const deadline of this.#open) deadline.check(nowMs)
  }

  /** By the clock of the process, for `stoodStillSince`. */
  processMs(): number {
    return this.#swept.nowMs()
  }

  /** Whether the gateway stood still at any time since then. */
  stoodStillSince(atMs: number): boolean {
    return this.#stillUntilMs >= atMs || lagOf(this.#swept) > maxLagMs
  }

  /** Ends every call that is still open. */
  stopAll(): void {
    for (const deadline of this.#open) deadline.stop()
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
