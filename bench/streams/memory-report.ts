// Memory under many open streams, as a table and verdicts. Pure.
// Refuses to know how anything was measured.

import { type Columns, check, formatRows, megabytes, type Verdict } from '../lib/report.ts'

export interface SlowFigures {
  streams: number
  /** Streams that were open and had received a token, all at one time. */
  held: number
  baseBytes: number
  rssBytes: number
  peakBytes: number
  tokens: number
  delayP50Ms: number
  delayP99Ms: number
  delayMaxMs: number
  failed: number
}

export interface StalledFigures {
  callers: number
  /** Streams the upstream was pushing into. */
  reached: number
  baseBytes: number
  rssBytes: number
  peakBytes: number
  /** What the upstream could send per stream, and to all of them in the last seconds. */
  acceptedMedianBytes: number
  acceptedMaxBytes: number
  grownBytes: number
}

const slowColumns: Columns<SlowFigures> = {
  'slow streams': (row) => `${row.held} of ${row.streams}`,
  'base MB': (row) => megabytes(row.baseBytes),
  'RSS MB': (row) => megabytes(row.rssBytes),
  'peak MB': (row) => megabytes(row.peakBytes),
  'KB/stream': (row) => (row.rssBytes - row.baseBytes) / row.held / 1000,
  tokens: (row) => row.tokens,
  'delay p50 ms': (row) => row.delayP50Ms,
  'p99 ms': (row) => row.delayP99Ms,
  'largest ms': (row) => row.delayMaxMs,
  failed: (row) => row.failed,
}

const stalledColumns: Columns<StalledFigures> = {
  'stalled callers': (row) => `${row.reached} of ${row.callers}`,
  'base MB': (row) => megabytes(row.baseBytes),
  'RSS MB': (row) => megabytes(row.rssBytes),
  'peak MB': (row) => megabytes(row.peakBytes),
  'rise MB': (row) => megabytes(row.rssBytes - row.baseBytes),
  'taken MB median': (row) => megabytes(row.acceptedMedianBytes),
  max: (row) => megabytes(row.acceptedMaxBytes),
  'still growing MB': (row) => megabytes(row.grownBytes),
}

export const formatSlow = (slow: SlowFigures): string => formatRows(slowColumns, [slow])
export const formatStalled = (stalled: StalledFigures): string =>
  formatRows(stalledColumns, [stalled])

export const checkSlow = ({ streams, held, peakBytes }: SlowFigures): Verdict[] => [
  check({ label: 'slow streams held at once', value: held, limit: `= ${streams}` }),
  check({
    label: `peak memory at ${streams} slow streams`,
    value: megabytes(peakBytes),
    limit: '< 256 MB',
    valid: held > 0,
  }),
]

/** A limit counts as met only if the upstream was really pushing into every stream. */
export function checkStalled(stalled: StalledFigures): Verdict[] {
  const { callers, reached, rssBytes, baseBytes, grownBytes, acceptedMedianBytes } = stalled
  const valid = reached === callers && acceptedMedianBytes > 0
  return [
    check({
      label: `rise of RSS by ${callers} stalled callers`,
      value: megabytes(rssBytes - baseBytes),
      limit: '< 250 MB',
      valid,
      ...(!valid && { note: `only ${reached} streams reached` }),
    }),
    check({
      label: 'taken from the upstream once the buffers are full',
      value: megabytes(grownBytes),
      limit: '= 0 MB',
      valid,
    }),
  ]
}
