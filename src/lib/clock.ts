// Time as an argument, so that tests and simulations can own it. The clock of a gateway runs by the
// monotonic clock of its process: a wall clock that is wrong or stepped changes nothing.

export interface Clock {
  nowMs(): number
  /** Now, for an age that ends something for good; absent: the same as `nowMs`. */
  sureMs?(): number
}

export const systemClock: Clock = { nowMs: Date.now }

/** Now, for an age that ends something for good. */
export const sureNowMs = (clock: Clock): number => clock.sureMs?.() ?? clock.nowMs()

/** A larger difference is no drift: somebody, or something, has set a clock. */
export const stepMs = 60_000
/** A jump ahead counts for ages only after the clock has run on for so long. */
const doubtForMs = 3_600_000
/** By how much at most a clock without a reference follows its machine's: half a percent. */
const slewRate = 0.005

/**
 * `nowMs` is the time of what it was last set by, plus the monotonic time since. After a jump ahead
 * (the reference was set, or nobody ran for long), `sureMs` leaves the jump out for an hour: a wrong
 * clock that is put right within that time has ended nothing.
 */
export class SteadyClock implements Clock {
  #offsetMs: number
  #hasHeard = false
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

  /** By how much the wall clock of this machine is ahead. */
  aheadMs(): number {
    return Date.now() - this.nowMs()
  }

  /**
   * The reference said `theirMs` between two moments of the monotonic clock. What does not
   * contradict it stays as it is. Gives by how much this clock was set, after the first time.
   */
  reply(theirMs: number, fromMs: number, untilMs: number): number {
    const [least, most] = [theirMs - untilMs, theirMs - fromMs]
    if (!this.#hasHeard) {
      this.#hasHeard = true
      this.#offsetMs = (least + most) / 2
      return 0
    }
    const within = Math.min(most, Math.max(least, this.#offsetMs))
    const isStep = Math.abs(within - this.#offsetMs) > stepMs
    return this.#set(isStep ? (least + most) / 2 : within)
  }

  /** Follows the wall clock, slowly, for as long as has passed. */
  slew(passedMs: number): void {
    const maxMs = passedMs * slewRate
    this.#offsetMs += Math.min(maxMs, Math.max(-maxMs, this.aheadMs()))
  }

  /** The last moment that is known to have been: what lies between is left out of ages for a while. */
  knownUntil(lastMs: number): void {
    this.#doubt(this.nowMs() - lastMs)
  }

  #set(offsetMs: number): number {
    const byMs = offsetMs - this.#offsetMs
    this.#offsetMs = offsetMs
    this.#doubt(byMs)
    return byMs
  }

  /** A jump back takes away from a jump ahead that is still in doubt. */
  #doubt(byMs: number): void {
    if (Math.abs(byMs) <= stepMs) return
    this.#doubtMs = Math.max(0, this.#doubtMs + byMs)
    this.#doubtFromMs = performance.now()
  }
}
