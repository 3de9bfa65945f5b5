// What this gateway has recently admitted, by token: the requests and counted tokens of two
// minutes, and the calls in flight. Decides nothing.
import { type Tally, windowMs } from './window.ts'

/** Where a token stands at one moment. */
export interface TokenStanding {
  readonly requests: Tally
  readonly tokens: Tally
  /** How much is left of the current minute. */
  readonly leftMs: number
  readonly running: number
}

export class TokenCount implements TokenStanding {
  readonly requests: Tally = { current: 0, previous: 0 }
  readonly tokens: Tally = { current: 0, previous: 0 }
  leftMs = windowMs
  minute = 0
  running = 0
  /** Calls about which Redis has been asked and has not answered. */
  asking = 0
  /** Redis may have, or should have, a number of running calls from here. */
  shared = false
  touchedMs = 0

  /** Moves on to the minute of `nowMs`. */
  turn(nowMs: number): void {
    const minute = Math.floor(nowMs / windowMs)
    const minutes = minute - this.minute
    this.touchedMs = nowMs
    this.leftMs = windowMs - (nowMs - minute * windowMs)
    if (minutes === 0) return
    if (minutes === -1) {
      // A clock was set back a little: time stands still until it has caught up.
      this.leftMs = windowMs
      return
    }
    this.minute = minute
    // A clock that was set back far: what was counted counts from here.
    if (minutes < 0) return
    for (const tally of [this.requests, this.tokens]) {
      tally.previous = minutes === 1 ? tally.current : 0
      tally.current = 0
    }
  }

  admit(cost: number): void {
    this.requests.current++
    this.tokens.current += cost
    this.running++
  }

  /** Corrects what was counted in a minute that still counts. */
  correct(minute: number, by: number): void {
    const { tokens } = this
    if (minute === this.minute) tokens.current = Math.max(0, tokens.current + by)
    if (minute === this.minute - 1) tokens.previous = Math.max(0, tokens.previous + by)
  }

  get idle(): boolean {
    return this.running === 0 && this.asking === 0 && !this.shared
  }
}

/** After this nothing of an idle token counts any more. */
const idleMs = 2 * windowMs
const tokensPerSweep = 10_000

export class TokenCounts {
  readonly #counts = new Map<string, TokenCount>()
  #sweeping = this.#counts.entries()

  get size(): number {
    return this.#counts.size
  }

  /** The counts of a token, moved on to `nowMs`. */
  at(tokenId: string, nowMs: number): TokenCount {
    let count = this.#counts.get(tokenId)
    if (count === undefined) {
      count = new TokenCount()
      this.#counts.set(tokenId, count)
    }
    count.turn(nowMs)
    return count
  }

  /** Tokens with calls in flight that must be reported to Redis again. */
  *shared(): Iterable<[string, TokenCount]> {
    for (const entry of this.#counts) if (entry[1].shared) yield entry
  }

  /** Drops tokens that have been idle for long; goes on next time where it stopped. */
  sweep(nowMs: number): void {
    for (let left = Math.min(tokensPerSweep, this.#counts.size); left > 0; left--) {
      const { value, done } = this.#sweeping.next()
      if (done === true) {
        this.#sweeping = this.#counts.entries()
        return
      }
      const [tokenId, count] = value
      if (count.idle && Math.abs(nowMs - count.touchedMs) > idleMs) this.#counts.delete(tokenId)
    }
  }
}
