// Rows of traffic made into what is shown of each channel. Pure.
import type { TrafficRow } from '../../lib/resources/traffic.ts'

export const hourMs = 3_600_000
export const hoursShown = 24

export interface ChannelRow extends TrafficRow {
  channel?: string | null
  p50_ms: number | null
}

export interface ChannelTraffic {
  requests: number
  failed: number
  p50Ms: number | null
  /** What of the input came from the upstream's prompt cache. */
  cacheShare: number | undefined
  /** Of each of the last hours, the oldest first. */
  failedByHour: number[]
}

/** By the name of the channel; those without a call are not in it. */
export function trafficOf(
  whole: readonly ChannelRow[],
  detail: readonly ChannelRow[],
  fromMs: number,
): Map<string, ChannelTraffic> {
  const found = new Map<string, ChannelTraffic>()
  for (const row of whole) {
    const { channel, requests, p50_ms } = row
    const failedByHour = Array.from({ length: hoursShown }, () => 0)
    found.set(channel ?? '', {
      ...{ requests, failed: 0, p50Ms: p50_ms, failedByHour },
      cacheShare: cacheShare([row]),
    })
  }
  for (const { channel, status = 200, hour = '', requests } of detail) {
    const traffic = found.get(channel ?? '')
    // What the caller did wrong is no fault of the channel.
    if (traffic === undefined || status < 500) continue
    traffic.failed += requests
    const at = Math.floor((Date.parse(hour) - fromMs) / hourMs)
    traffic.failedByHour[at] = (traffic.failedByHour[at] ?? 0) + requests
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
