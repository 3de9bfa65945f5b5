// How long large bodies of every shape delay other callers, and whether the memory is freed, as a table
// and verdicts. Pure. Refuses to know how it was measured.

import { type Columns, check, formatRows, type Verdict } from '../lib/report.ts'

export interface StallRow {
  shape: string
  copies: number
  /** Of each copy; 0 for no answer. */
  statuses: readonly number[]
  /** Longest wait of another caller with a trivial request. */
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

export const restSeconds = 10
/** The row of callers that send every shape, one after the other. */
export const everyShape = 'every one of these'

const mebibytes = (bytes: number): number => bytes / 1024 / 1024

const columns: Columns<StallRow> = {
  body: (row) => row.shape,
  copies: (row) => row.copies,
  status: (row) => [...new Set(row.statuses)].join(', '),
  'longest wait ms': (row) => row.worstMs,
  'peak MB': (row) => mebibytes(row.peakBytes),
}

export function formatStalls({ quietMs, rows, baseBytes, restBytes }: StallFigures): string {
  const nothing = { copies: 0, statuses: [] }
  const quiet = { ...nothing, shape: '(nothing)', worstMs: quietMs, peakBytes: baseBytes }
  const shape = `(${restSeconds} s later)`
  const rest = { ...nothing, shape, worstMs: Number.NaN, peakBytes: restBytes }
  return formatRows(columns, [quiet, ...rows, rest])
}

export function checkStalls({ rows, baseBytes, restBytes }: StallFigures): Verdict[] {
  const single = rows.filter(({ copies }) => copies === 1)
  const worst = single.reduce((slowest, row) => (row.worstMs > slowest.worstMs ? row : slowest))
  const unanswered = rows.filter(({ statuses }) => statuses.includes(0) || statuses.includes(500))
  return [
    check({
      label: 'longest wait beside any one body',
      value: worst.worstMs,
      limit: '<= 50 ms',
      note: worst.shape,
    }),
    check({
      label: `memory kept ${restSeconds} s after the bodies`,
      value: mebibytes(restBytes - baseBytes),
      limit: '<= 96 MB',
    }),
    check({ label: 'bodies without a proper answer', value: unanswered.length, limit: '= 0' }),
  ]
}

/** Several callers may send such requests all day: what counts is how much longer others wait. */
export function checkHostile({ quietMs, ...figures }: StallFigures): Verdict[] {
  const rows = figures.rows.map((row) => ({ ...row, worstMs: row.worstMs - quietMs }))
  const [alone, ...rest] = checkStalls({ ...figures, quietMs, rows })
  const together = rows.filter(({ shape, copies }) => shape === everyShape && copies > 1)
  return [
    { ...alone!, label: 'extra wait beside any one request that is hard to translate' },
    ...together.map(({ copies, worstMs }) =>
      check({
        label: `extra wait beside ${copies} callers that send all of them`,
        value: worstMs,
        limit: '<= 50 ms',
      }),
    ),
    ...rest,
  ]
}
