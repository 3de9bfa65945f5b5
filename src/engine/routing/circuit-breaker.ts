// Circuit breaker of a channel or one of its keys: its recent health, and whether it gets calls
// now.
//
//   good --failures--> avoided --time--> due for a probe --one call--> good, or avoided for longer
//
// An avoided channel is still used when there is nothing better: an upstream's own answer helps a
// caller more than our guess. After many failures in a row it is blocked: it gets no calls until
// its time is over, so that a dead upstream causes no delays.

export interface BreakerRules {
  /** Consecutive failures before it is avoided. */
  avoidAfter: number
  /** Consecutive failures before it is blocked. */
  blockAfter: number
  /** Initial time; doubles after every failed probe. */
  firstMs: number
  maxMs: number
}

export type State = 'good' | 'probe' | 'avoided' | 'blocked'

/** Above this share of recent failures it is avoided although some calls succeed in between. */
const badShare = 0.5
/** Weight of one call in that share. */
const newsWeight = 0.1
/** After a successful probe the history counts for less. */
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

  /** A call is sent as the probe: other calls wait for its outcome. */
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
    // One success after failures completes a probe.
    this.#share = Math.min(this.#share, pastAfterProbe)
    this.untilMs = 0
    this.#openings = 0
    this.#probing = false
  }

  /** `forMs`: the pause that the upstream asked for. */
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
    // Failures of calls in flight when it opened do not extend it.
    if (nowMs < this.untilMs) return
    const { firstMs, maxMs } = this.#rules
    this.untilMs = nowMs + Math.min(maxMs, firstMs * 2 ** this.#openings)
    this.#openings++
  }

  /** The upstream asked for a pause. Bounded, and only after failures. */
  pauseFor(nowMs: number, forMs: number): void {
    if (this.untilMs === 0) return
    this.untilMs = Math.max(this.untilMs, nowMs + Math.min(forMs, this.#rules.maxMs))
  }

  /** A successful test clears the history. */
  reset(): void {
    this.succeeded()
    this.#share = 0
  }
}
