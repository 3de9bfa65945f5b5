// What a caller is told about its rate limits. Types only; counting lives in engine/limits/,
// rendering as headers in http/.

export interface RateGauge {
  limit: number
  /** What could still be admitted now, never below 0. */
  remaining: number
  /** Until nothing of the last minute counts any more, if nothing else happens. */
  resetMs: number
}

export interface RateView {
  requests?: RateGauge
  tokens?: RateGauge
}
