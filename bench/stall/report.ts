// What bodies of every shape did to others, judged: how long nobody else was answered, and whether
// the memory came back. Refuses to know how it was measured.

import { formatTable, type Verdict } from '../lib/report.ts'

export interface StallRow {
  shape: string
  copies: number
  /** Of each copy; 0 for none. */
  statuses: readonly number[]
  /** Longest wait of somebody who asked for next to nothing meanwhile. */
  worstMs: number
  peakBytes: number
}

export interface StallFigures {
  /** The longest wait while nothing was sent. */
  quietMs: number
  rows: readonly StallRow[]
  baseBytes: number
  /** Some seconds after the last body. */
  restBytes: number
}

const stallLimitMs = 50
const keptLimitBytes = 96 * 1024 * 1024
export const restSeconds = 10

const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(0)

export function formatStalls({ quietMs, rows, baseBytes, restBytes }: StallFigures): string {
  const heading = ['body', 'copies', 'status', 'longest wait ms', 'peak MB']
  const lines = rows.map(({ shape, copies, statuses, worstMs, peakBytes }) => [
    shape,
    String(copies),
    [...new Set(statuses)].join(', '),
    worstMs.toFixed(0),
    megabytes(peakBytes),
  ])
  const quiet = ['(nothing)', '0', '', quietMs.toFixed(0), megabytes(baseBytes)]
  const rest = [`(${restSeconds} s later)`, '0', '', '', megabytes(restBytes)]
  return formatTable([heading, quiet, ...lines, rest])
}

export function judgeStalls({ rows, baseBytes, restBytes }: StallFigures): Verdict[] {
  const single = rows.filter(({ copies }) => copies === 1)
  const worst = single.reduce((most, row) => (row.worstMs > most.worstMs ? row : most))
  const unanswered = rows.filter(({ statuses }) => statuses.includes(0) || statuses.includes(500))
  return [
    {
      label: 'longest wait beside any one body',
      limit: `${stallLimitMs} ms`,
      value: `${worst.worstMs.toFixed(0)} ms (${worst.shape})`,
      met: worst.worstMs <= stallLimitMs,
    },
    {
      label: `memory kept ${restSeconds} s after the bodies`,
      limit: `${megabytes(keptLimitBytes)} MB`,
      value: `${megabytes(restBytes - baseBytes)} MB`,
      met: restBytes - baseBytes <= keptLimitBytes,
    },
    {
      label: 'bodies without a proper answer',
      limit: '0',
      value: String(unanswered.length),
      met: unanswered.length === 0,
    },
  ]
}
