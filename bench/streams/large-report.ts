// Memory under streams with large requests, as a table and verdicts. Pure.
// Refuses to know how anything was measured.

import { type Columns, check, formatRows, megabytes, type Verdict } from '../lib/report.ts'

export interface LargeFigures {
  /** How the gateway handles the calls. */
  name: string
  streams: number
  /** Streams that were open all at one time. */
  held: number
  requestBytes: number
  baseBytes: number
  /** When all were open for a while. */
  heldBytes: number
  peakBytes: number
  failed: number
}

const columns: Columns<LargeFigures> = {
  'large requests': (row) => row.name,
  streams: (row) => `${row.held} of ${row.streams}`,
  'request KB': (row) => row.requestBytes / 1000,
  'base MB': (row) => megabytes(row.baseBytes),
  'held MB': (row) => megabytes(row.heldBytes),
  'peak MB': (row) => megabytes(row.peakBytes),
  'KB/stream held': (row) => (row.heldBytes - row.baseBytes) / row.held / 1000,
  failed: (row) => row.failed,
}

export const formatLarge = (figures: readonly LargeFigures[]): string =>
  formatRows(columns, figures)

/** A limit counts as met only if all streams were there. */
export const checkLarge = (figures: readonly LargeFigures[]): Verdict[] =>
  figures.map(({ name, streams, held, requestBytes, peakBytes }) =>
    check({
      label: `peak of ${streams} streams with ${requestBytes / 1000} KB requests, ${name}`,
      value: megabytes(peakBytes),
      limit: '< 600 MB',
      valid: held === streams,
      ...(held !== streams && { note: `only ${held} held` }),
    }),
  )
