// Totals of requests: count, duration, cost. Knows neither where they are stored nor how they are
// grouped.

export interface TrafficSums {
  requests: number
  /** Retries of clients among them. */
  retries: number
  totalMs: number
  /** Requests with a measured first byte, and their times. */
  firstBytes: number
  firstByteMs: number
  chargeNanos: bigint
  /** Whole inputs, and what of them was read from a cache. */
  inputTokens: number
  cacheReadTokens: number
  /** Count per duration bucket. */
  took: number[]
}

/** Upper bounds of the duration buckets; the last bucket has none. */
export const tookBounds: readonly number[] = Array.from({ length: 15 }, (_, i) => 8 * 2 ** i)
export const tookClasses = tookBounds.length + 1

export const noTraffic = (): TrafficSums => ({
  requests: 0,
  retries: 0,
  totalMs: 0,
  firstBytes: 0,
  firstByteMs: 0,
  chargeNanos: 0n,
  inputTokens: 0,
  cacheReadTokens: 0,
  took: new Array<number>(tookClasses).fill(0),
})

export function addTraffic(to: TrafficSums, more: TrafficSums): void {
  to.requests += more.requests
  to.retries += more.retries
  to.totalMs += more.totalMs
  to.firstBytes += more.firstBytes
  to.firstByteMs += more.firstByteMs
  to.chargeNanos += more.chargeNanos
  to.inputTokens += more.inputTokens
  to.cacheReadTokens += more.cacheReadTokens
  for (let i = 0; i < to.took.length; i++) to.took[i]! += more.took[i]!
}

/** Estimated quantile of the duration: interpolated within its bucket. */
export function durationAt(took: readonly number[], share: number): number | null {
  const all = took.reduce((sum, count) => sum + count, 0)
  if (all === 0) return null
  let below = 0
  for (const [i, count] of took.entries()) {
    if (count > 0 && below + count >= share * all) {
      const from = tookBounds[i - 1] ?? 0
      const to = tookBounds[i] ?? from
      return Math.round(from + ((to - from) * (share * all - below)) / count)
    }
    below += count
  }
  return tookBounds.at(-1)!
}

/** HTTP statuses as filters name them: one of them, a class such as 5xx, or all that tell of a failure. */
export interface StatusRange {
  from: number
  /** Included. */
  to: number
}

export const statusPattern = /^(\d{3}|[1-5]xx|failed)$/

export function statusRange(word: string): StatusRange {
  if (word === 'failed') return { from: 400, to: 599 }
  const first = Number(word.replace('xx', '00'))
  return { from: first, to: word.endsWith('xx') ? first + 99 : first }
}

export const isInRange = (status: number, { from, to }: StatusRange): boolean =>
  status >= from && status <= to
