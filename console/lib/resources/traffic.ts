// A row of the sums of traffic, as the admin API gives it.
export interface TrafficRow {
  slot?: string
  hour?: string
  day?: string
  model?: string | null
  status?: number
  requests: number
  charge: string
  average_ms: number | null
  average_first_byte_ms: number | null
  /** Not of a single account. */
  p50_ms?: number | null
  p95_ms: number | null
}
