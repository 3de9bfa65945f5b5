// A caller's rate limit state. Types only; engine/admission/limits/ counts, http/ renders the
// headers.

export interface RateGauge {
  limit: number
  /** What could still be admitted now, never below 0. */
  remaining: number
  /** Time until the window is empty, without further requests. */
  resetMs: number
}

export interface RateView {
  requests?: RateGauge
  tokens?: RateGauge
}
