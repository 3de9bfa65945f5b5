// What this gateway has recently admitted, by token: the requests and counted tokens of two
// minutes, and the calls in flight. Decides nothing.
import { type Tally, windowMs } from './window.ts'

/** The counts of a token at one moment. */
export interface TokenUsageState {
  readonly requests: Tally
  readonly tokens: Tally
  /** Time left in the current minute. */
  readonly leftMs: number
  readonly running: number
}

export class TokenCount implements TokenUsageState {
  readonly requests: Tally = { current: 0, previous: 0 }
  readonly tokens: Tally = { current: 0, previous: 0 }
  leftMs = windowMs
  minute = 0
  running = 0
  /** Calls with a pending request to Redis. */
  asking = 0
  /** Redis may have, or should have, our number of running calls. */
  shared = false
  touchedMs = 0

  /** Advances to the minute of `nowMs`. */
  turn(nowMs: number): void {
    const minute = Math.floor(nowMs / windowMs)
    const minutes = minute - this.minute
    this.touchedMs = nowMs
    this.leftMs = windowMs - (nowMs - minute * windowMs)
    if (minutes === 0) return
    if (minutes === -1) {
      // The clock was set back a little: time stands still until it has caught up.
      this.leftMs = windowMs
      return
    }
    this.minute = minute
    // The clock was set back far: the counts continue from here.
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

/** After this, an idle token has no counts left. */
const idleMs = 2 * windowMs
const tokensPerSweep = 10_000

export class TokenCounts {
  readonly #counts = new Map<string, TokenCount>()
  #sweeping = this.#counts.entries()

  get size(): number {
    return this.#counts.size
  }

  /** The counts of a token, advanced to `nowMs`. */
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

  /** Drops tokens that have been idle for long; resumes where it stopped. */
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
