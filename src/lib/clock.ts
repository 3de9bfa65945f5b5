// Time as an argument, so that tests and simulations can own it. The clock of a gateway runs by the
// monotonic clock of its process: a wall clock that is wrong or stepped changes nothing.

export interface Clock {
  nowMs(): number
  /** Now, for ages that trigger something irreversible; absent: the same as `nowMs`. */
  sureMs?(): number
}

/** Now, for ages that trigger something irreversible. */
export const sureNowMs = (clock: Clock): number => clock.sureMs?.() ?? clock.nowMs()

/** A larger difference is not drift: a clock was set. */
export const stepMs = 60_000
/** A forward jump counts towards ages only after the clock has run this long. */
const doubtForMs = 3_600_000
/** Maximum rate at which a clock without a reference follows its machine's: half a percent. */
const slewRate = 0.005

/**
 * `nowMs` is the time of the last reference, plus the monotonic time since. After a forward jump
 * (the reference was set, or no process ran for long), `sureMs` excludes the jump for an hour: a
 * wrong clock corrected within that time has ended nothing.
 */
export class SteadyClock implements Clock {
  #offsetMs: number
  #isSet = false
  #doubtMs = 0
  #doubtFromMs = 0

  constructor(startMs = Date.now()) {
    this.#offsetMs = startMs - performance.now()
  }

  readonly nowMs = (): number => Math.floor(performance.now() + this.#offsetMs)

  readonly sureMs = (): number => {
    if (this.#doubtMs > 0 && performance.now() - this.#doubtFromMs >= doubtForMs) this.#doubtMs = 0
    return Math.floor(this.nowMs() - this.#doubtMs)
  }

  /** By how much this machine's wall clock is ahead. */
  aheadMs(): number {
    return Date.now() - this.nowMs()
  }

  /**
   * The reference read `theirMs` between two moments of the monotonic clock. A consistent clock
   * stays as it is. Returns by how much this clock was set, after the first time.
   */
  reply(theirMs: number, fromMs: number, untilMs: number): number {
    const [minOffsetMs, maxOffsetMs] = [theirMs - untilMs, theirMs - fromMs]
    if (!this.#isSet) {
      this.#isSet = true
      this.#offsetMs = (minOffsetMs + maxOffsetMs) / 2
      return 0
    }
    const within = Math.min(maxOffsetMs, Math.max(minOffsetMs, this.#offsetMs))
    const isStep = Math.abs(within - this.#offsetMs) > stepMs
    return this.#set(isStep ? (minOffsetMs + maxOffsetMs) / 2 : within)
  }

  /** Follows the wall clock slowly, in proportion to the time passed. */
  slew(passedMs: number): void {
    const maxMs = passedMs * slewRate
    this.#offsetMs += Math.min(maxMs, Math.max(-maxMs, this.aheadMs()))
  }

  /** The last known moment: the gap since then is excluded from ages for a while. */
  knownUntil(lastMs: number): void {
    this.#doubt(this.nowMs() - lastMs)
  }

  #set(offsetMs: number): number {
    const byMs = offsetMs - this.#offsetMs
    this.#offsetMs = offsetMs
    this.#doubt(byMs)
    return byMs
  }

  /** A backward jump reduces a forward jump that is still in doubt. */
  #doubt(byMs: number): void {
    if (Math.abs(byMs) <= stepMs) return
    this.#doubtMs = Math.max(0, this.#doubtMs + byMs)
    this.#doubtFromMs = performance.now()
  }
}
