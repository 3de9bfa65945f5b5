// Which range of time the histogram over the requests shows, in which steps, and what fell into each.
// Pure: the clock is handed in.
import type { TrafficRow } from '../../lib/resources/traffic.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** The gateway counts in these, and never finer than the first. */
const steps = [
  ...[5, 10, 15, 30].map((minutes) => minutes * minuteMs),
  ...[1, 2, 3, 6, 12].map((hours) => hours * hourMs),
  ...[1, 2, 7, 30, 90].map((days) => days * dayMs),
]
export const minStepMs = steps[0]!
const maxBuckets = 96
/** As far back as the gateway adds up at once. */
const maxRangeMs = 3_500 * dayMs

export interface TimeRange {
  /** On the border of a step, both. */
  fromMs: number
  toMs: number
  stepMs: number
  /** What to ask the gateway for. */
  by: 'slot' | 'hour' | 'day'
}

interface Wanted {
  from: string | undefined
  to: string | undefined
  /** Traffic of an account is counted by the hour. */
  isOfAccount: boolean
  nowMs: number
}

/** What the address asks for; the last day where it says nothing. */
export function timeRangeFor({ from, to, isOfAccount, nowMs }: Wanted): TimeRange {
  const until = momentOf(to) ?? nowMs
  const since = momentOf(from) ?? until - dayMs
  const lengthMs = Math.min(Math.max(until - since, minStepMs), maxRangeMs)
  const minMs = isOfAccount ? hourMs : minStepMs
  const stepMs =
    steps.find((step) => step >= minMs && lengthMs / step <= maxBuckets) ?? steps.at(-1)!
  return {
    fromMs: Math.floor((until - lengthMs) / stepMs) * stepMs,
    toMs: Math.ceil(until / stepMs) * stepMs,
    stepMs,
    by: stepMs < hourMs ? 'slot' : stepMs < dayMs ? 'hour' : 'day',
  }
}

function momentOf(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '')
  return Number.isNaN(ms) ? undefined : ms
}

export interface TimeBucket {
  fromMs: number
  ok: number
  client: number
  server: number
}

/** One for every step, also for those in which nothing happened. */
export function bucketsIn(stretch: TimeRange, rows: readonly TrafficRow[]): TimeBucket[] {
  const { fromMs, toMs, stepMs, by } = stretch
  const count = Math.max(Math.round((toMs - fromMs) / stepMs), 1)
  const columns = Array.from({ length: count }, (_, i) => ({
    fromMs: fromMs + i * stepMs,
    ok: 0,
    client: 0,
    server: 0,
  }))
  for (const row of rows) {
    const column = columns[Math.floor((Date.parse(row[by] ?? '') - fromMs) / stepMs)]
    if (column === undefined) continue
    const status = row.status ?? 200
    column[status < 400 ? 'ok' : status < 500 ? 'client' : 'server'] += row.requests
  }
  return columns
}
