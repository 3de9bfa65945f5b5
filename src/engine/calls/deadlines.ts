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
/**
 * After which a waiting caller gets a heartbeat; proxies cut at 30 or 60 s. The upstream need not be
 * silent: not all of its events have something for the caller.
 */
const keepAliveMs = 15_000

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
  /** Start of the total limit. */
  #sinceMs: number
  #lastMs: number
  #idleMs: number
  #caller: Stoppable | undefined
  /** When the caller last got something, or began to wait. */
  #givenMs: number
  #beatMs = 0
  /** Gets a heartbeat while the upstream is still working. */
  waiter: { beat(): void } | undefined
  /** A stream with a caller that must be notified when the gateway stops. */
  stream: { cut(): void } | undefined

  constructor(
    all: InFlight<Deadline>,
    nowMs: () => number,
    limits: DeadlineLimits,
    guarded: Stoppable,
  ) {
    this.#all = all
    this.#nowMs = nowMs
    this.#limits = limits
    this.#guarded = guarded
    this.#sinceMs = nowMs()
    this.#lastMs = this.#sinceMs
    this.#givenMs = this.#sinceMs
    this.#idleMs = limits.firstByteMs
    all.add(this)
  }

  /** Something arrived: from now on the idle limit counts. */
  touch(): void {
    this.#lastMs = this.#nowMs()
    this.#idleMs = this.#limits.idleMs
  }

  /** A stream continued: the total limit bounds the time without an event, not the whole stream. */
  advance(): void {
    this.#sinceMs = this.#lastMs
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

  #expire(): void {
    this.expired = true
    this.end()
    this.#guarded.cancel()
  }

  #beat(nowMs: number): void {
    this.#beatMs = nowMs
    if (this.#caller === undefined) this.waiter?.beat()
  }
}

export class Deadlines {
  readonly #open = new InFlight<Deadline>()
  readonly #nowMs: () => number
  readonly #timer: ReturnType<typeof setInterval>

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
    this.#timer = setInterval(() => this.sweep(), sweepMs)
    this.#timer.unref()
  }

  start(limits: DeadlineLimits, guarded: Stoppable): Deadline {
    return new Deadline(this.#open, this.#nowMs, limits, guarded)
  }

  sweep(): void {
    const nowMs = this.#nowMs()
    for (const deadline of this.#open) deadline.check(nowMs)
  }

  /** Ends every call that is still open. */
  stopAll(): void {
    for (const deadline of this.#open) deadline.stop()
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
