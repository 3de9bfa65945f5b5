// Rows of traffic made into what is shown of each channel. Pure.
import type { TrafficRow } from '../../lib/resources/traffic.ts'

export const hourMs = 3_600_000
export const hoursShown = 24

export interface ChannelRow extends TrafficRow {
  channel?: string | null
  p50_ms: number | null
}

export interface ChannelTraffic {
  /** Answered and failed ones. */
  attempts: number
  failed: number
  p50Ms: number | null
  /** What of the input came from the upstream's prompt cache. */
  cacheShare: number | undefined
  /** Of each of the last hours, the oldest first. */
  failedByHour: number[]
}

interface ChannelRows {
  /** By channel. */
  whole: readonly ChannelRow[]
  /** By channel and status. */
  statuses: readonly ChannelRow[]
  /** By channel and hour. */
  hours: readonly ChannelRow[]
}

/** What the caller did wrong is no fault of the channel. */
const isAnswered = (status: number): boolean => status < 500 && status !== 429

/**
 * By the name of the channel; those without a call are not in it. A call that another channel served in
 * the end has failed at this one.
 */
export function trafficOf(
  { whole, statuses, hours }: ChannelRows,
  fromMs: number,
): Map<string, ChannelTraffic> {
  const found = new Map<string, ChannelTraffic>()
  for (const row of whole) {
    const { channel, p50_ms: p50Ms, failed_attempts: failed = 0 } = row
    const failedByHour = Array.from({ length: hoursShown }, () => 0)
    found.set(channel ?? '', {
      ...{ attempts: failed, failed, p50Ms, failedByHour },
      cacheShare: cacheShare([row]),
    })
  }
  for (const { channel, status = 200, requests } of statuses) {
    const traffic = found.get(channel ?? '')
    if (traffic !== undefined && isAnswered(status)) traffic.attempts += requests
  }
  for (const { channel, hour = '', failed_attempts = 0 } of hours) {
    const at = Math.floor((Date.parse(hour) - fromMs) / hourMs)
    const traffic = found.get(channel ?? '')
    if (traffic !== undefined) traffic.failedByHour[at] = failed_attempts
  }
  return found
}

/** What of the input was read from the upstream's prompt cache; undefined without input. */
export function cacheShare(
  rows: readonly Pick<TrafficRow, 'input_tokens' | 'cache_read_tokens'>[],
): number | undefined {
  const sum = (of: 'input_tokens' | 'cache_read_tokens') =>
    rows.reduce((all, row) => all + row[of], 0)
  const input = sum('input_tokens')
  return input === 0 ? undefined : sum('cache_read_tokens') / input
}
