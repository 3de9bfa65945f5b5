// Memory under many open streams, as a table and verdicts. Pure.
// Refuses to know how anything was measured.

import { formatMegabytes, formatNumber, formatTable } from '../lib/table.ts'
import type { Verdict } from '../lib/verdict.ts'

export interface SlowFigures {
  streams: number
  /** Streams that were open and had had a token, all at one time. */
  held: number
  baseBytes: number
  rssBytes: number
  peakBytes: number
  tokens: number
  delayP50Ms: number
  delayP99Ms: number
  delayLargestMs: number
  failed: number
}

export interface StalledFigures {
  callers: number
  /** Streams the upstream was pushing into. */
  reached: number
  baseBytes: number
  rssBytes: number
  peakBytes: number
  /** What the upstream got rid of per stream, and all of them together in the last seconds. */
  acceptedMedianBytes: number
  acceptedLargestBytes: number
  grownBytes: number
}

const slowLimitBytes = 256_000_000
const riseLimitBytes = 250_000_000

/** Exact enough to tell what lies just beside a limit. */
const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`

export function formatSlow(slow: SlowFigures): string {
  const heading = [
    'slow streams',
    'base MB',
    'RSS MB',
    'peak MB',
    'KB/stream',
    'tokens',
    'delay p50 ms',
    'p99 ms',
    'largest ms',
    'failed',
  ]
  const row = [
    `${slow.held} of ${slow.streams}`,
    formatMegabytes(slow.baseBytes),
    formatMegabytes(slow.rssBytes),
    formatMegabytes(slow.peakBytes),
    formatNumber((slow.rssBytes - slow.baseBytes) / slow.held / 1000),
    String(slow.tokens),
    formatNumber(slow.delayP50Ms),
    formatNumber(slow.delayP99Ms),
    formatNumber(slow.delayLargestMs),
    String(slow.failed),
  ]
  return formatTable([heading, row], [0])
}

export function formatStalled(stalled: StalledFigures): string {
  const heading = [
    'stalled callers',
    'base MB',
    'RSS MB',
    'peak MB',
    'rise MB',
    'taken MB median',
    'largest',
    'still growing MB',
  ]
  const row = [
    `${stalled.reached} of ${stalled.callers}`,
    formatMegabytes(stalled.baseBytes),
    formatMegabytes(stalled.rssBytes),
    formatMegabytes(stalled.peakBytes),
    formatMegabytes(stalled.rssBytes - stalled.baseBytes),
    formatMegabytes(stalled.acceptedMedianBytes),
    formatMegabytes(stalled.acceptedLargestBytes),
    formatMegabytes(stalled.grownBytes),
  ]
  return formatTable([heading, row], [0])
}

export function judgeSlow(slow: SlowFigures): Verdict[] {
  return [
    {
      what: 'slow streams held at once',
      limit: String(slow.streams),
      measured: String(slow.held),
      met: slow.held === slow.streams,
    },
    {
      what: `peak memory at ${slow.streams} slow streams`,
      limit: `< ${megabytes(slowLimitBytes)}`,
      measured: megabytes(slow.peakBytes),
      met: slow.held > 0 && slow.peakBytes < slowLimitBytes,
    },
  ]
}

/** A limit counts as kept only if the upstream was really pushing into every stream. */
export function judgeStalled(stalled: StalledFigures): Verdict[] {
  const { callers, reached, rssBytes, baseBytes, grownBytes, acceptedMedianBytes } = stalled
  const pushed = reached === callers && acceptedMedianBytes > 0
  const rise = rssBytes - baseBytes
  return [
    {
      what: `rise of RSS by ${callers} stalled callers`,
      limit: `< ${megabytes(riseLimitBytes)}`,
      measured: pushed ? megabytes(rise) : `only ${reached} streams reached`,
      met: pushed && rise < riseLimitBytes,
    },
    {
      what: 'taken from the upstream once they stand',
      limit: '0.0 MB',
      measured: megabytes(grownBytes),
      met: pushed && grownBytes === 0,
    },
  ]
}
