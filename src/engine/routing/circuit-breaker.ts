// Circuit breaker of a channel or one of its keys: its recent health, and whether it gets calls
// now.
//
//   good --failures--> avoided --time--> due for a probe --one call--> good, or avoided for longer
//
// An avoided channel is still used when there is nothing better: an upstream's own answer helps a
// caller more than our guess. After many failures in a row it is blocked: it gets no calls until
// its time is over, so that a dead upstream causes no delays.

export interface BreakerRules {
  /** Failures in a row before it is avoided. */
  avoidAfter: number
  /** Failures in a row before it is not asked at all. */
  blockAfter: number
  /** For how long, the first time; twice as long after every probe that fails. */
  firstMs: number
  maxMs: number
}

export type State = 'good' | 'probe' | 'avoided' | 'blocked'

/** Above this share of late failures it is avoided although some calls succeed in between. */
const badShare = 0.5
/** How much one call counts in that share. */
const newsWeight = 0.1
/** After a good probe the past counts for less. */
const pastAfterProbe = 0.2

export class CircuitBreaker {
  failuresInRow = 0
  untilMs = 0
  readonly #rules: BreakerRules
  #share = 0
  #openings = 0
  #probing = false

  constructor(rules: BreakerRules) {
    this.#rules = rules
  }

  stateAt(nowMs: number): State {
    if (this.untilMs === 0) return 'good'
    if (nowMs < this.untilMs || this.#probing) {
      return this.failuresInRow >= this.#rules.blockAfter ? 'blocked' : 'avoided'
    }
    return 'probe'
  }

  /** A call is sent although it is due for a probe: the others wait for how that goes. */
  beginProbe(): void {
    this.#probing = true
  }

  /** The call that went as a probe said nothing: its caller left, or the request itself was wrong. */
  dropProbe(): void {
    this.#probing = false
  }

  succeeded(): void {
    this.#share *= this.#probing ? pastAfterProbe : 1 - newsWeight
    this.failuresInRow = 0
    if (this.untilMs === 0) return
    // One good answer after a time of trouble is what a probe is for.
    this.#share = Math.min(this.#share, pastAfterProbe)
    this.untilMs = 0
    this.#openings = 0
    this.#probing = false
  }

  /** `forMs`: how long it asked to be left alone. */
  failed(nowMs: number, forMs?: number): void {
    this.failuresInRow++
    this.#probing = false
    this.#share += (1 - this.#share) * newsWeight
    const bad = this.failuresInRow >= this.#rules.avoidAfter || this.#share > badShare
    if (!bad) return
    if (forMs !== undefined) {
      this.untilMs = Math.max(this.untilMs, nowMs + forMs)
      return
    }
    // Calls that were under way when it was closed do not close it for longer.
    if (nowMs < this.untilMs) return
    const { firstMs, maxMs } = this.#rules
    this.untilMs = nowMs + Math.min(maxMs, firstMs * 2 ** this.#openings)
    this.#openings++
  }

  /** It asked for a pause. Heeded within bounds, and only once there is trouble. */
  pauseFor(nowMs: number, forMs: number): void {
    if (this.untilMs === 0) return
    this.untilMs = Math.max(this.untilMs, nowMs + Math.min(forMs, this.#rules.maxMs))
  }

  /** A test went well: the past is forgotten. */
  reset(): void {
    this.succeeded()
    this.#share = 0
  }
}
