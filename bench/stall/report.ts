// How long requests of every shape delay another caller, and whether the memory is freed, as a table and
// verdicts. Pure. Refuses to know how it was measured.

import { type Columns, check, formatRows, type Verdict } from '../lib/report.ts'
import type { ProbeResult } from './probe.ts'
import type { LongTurn } from './watch-turns.ts'

/** How long small chat calls of another caller took meanwhile. */
export interface Waited extends ProbeResult {
  /** The longest turn of the gateway's event loop, and the most CPU time that one has taken itself. */
  maxTurnMs: number
  maxTurnCpuMs: number
  /** Those with the most CPU time, the longest first. */
  longTurns: readonly LongTurn[]
}

export interface StallRow {
  shape: string
  copies: number
  /** Of each copy, or each that there was; 0 for no answer. */
  statuses: readonly number[]
  waited: Waited
  peakBytes: number
}

export interface StallFigures {
  /** While nothing was sent; its median is what a call takes. */
  quiet: Waited
  rows: readonly StallRow[]
  baseBytes: number
  /** Some seconds after the last body. */
  restBytes: number
}

export const restSeconds = 10
/** The row of callers that send every shape, one after the other. */
export const everyShape = 'every one of these'

const limit = '<= 50 ms'
const mebibytes = (bytes: number): number => bytes / 1024 / 1024

/** Those that some request had. */
export const statusesOf = (counts: Readonly<Record<number, number>>): number[] =>
  Object.keys(counts).map(Number)

const columns: Columns<StallRow> = {
  body: (row) => row.shape,
  copies: (row) => row.copies,
  status: (row) => [...new Set(row.statuses)].join(', '),
  'calls beside': ({ waited }) => waited.sent,
  'longest wait ms': ({ waited }) => waited.worstMs,
  'p99.9 ms': ({ waited }) => waited.p999Ms,
  'healthz ms': ({ waited }) => waited.healthWorstMs,
  'turn ms': ({ waited }) => waited.maxTurnMs,
  'its CPU ms': ({ waited }) => waited.maxTurnCpuMs,
  'peak MB': (row) => mebibytes(row.peakBytes),
}

export function formatStalls({ quiet, rows, baseBytes, restBytes }: StallFigures): string {
  const nothing = { copies: 0, statuses: [] }
  const before = { ...nothing, shape: '(nothing)', waited: quiet, peakBytes: baseBytes }
  const shape = `(${restSeconds} s later)`
  const rest = { ...nothing, shape, waited: unmeasured, peakBytes: restBytes }
  return formatRows(columns, [before, ...rows, rest])
}

const unmeasured: Waited = {
  sent: Number.NaN,
  failed: Number.NaN,
  medianMs: Number.NaN,
  p999Ms: Number.NaN,
  worstMs: Number.NaN,
  healthWorstMs: Number.NaN,
  maxTurnMs: Number.NaN,
  maxTurnCpuMs: Number.NaN,
  longTurns: [],
}

const worstOf = (rows: readonly StallRow[], of: (waited: Waited) => number): StallRow =>
  rows.reduce((slowest, row) => (of(row.waited) > of(slowest.waited) ? row : slowest))

/** What counts is how much longer a call takes than it does beside nothing. */
export function checkStalls({ quiet, rows, baseBytes, restBytes }: StallFigures): Verdict[] {
  const worst = worstOf(
    rows.filter(({ copies }) => copies === 1),
    ({ worstMs }) => worstMs,
  )
  const unanswered = rows.filter(({ statuses }) => statuses.includes(0) || statuses.includes(500))
  const failed = rows.reduce((sum, { waited }) => sum + waited.failed, 0)
  return [
    check({
      label: 'extra wait beside any one body',
      value: worst.waited.worstMs - quiet.medianMs,
      limit,
      note: worst.shape,
    }),
    check({
      label: `memory kept ${restSeconds} s after the bodies`,
      value: mebibytes(restBytes - baseBytes),
      limit: '<= 96 MB',
    }),
    check({ label: 'bodies without a proper answer', value: unanswered.length, limit: '= 0' }),
    check({ label: 'calls of the other caller that failed', value: failed, limit: '= 0' }),
  ]
}

/** Several callers may send such requests all day. */
export function checkHostile(figures: StallFigures): Verdict[] {
  const { quiet, rows } = figures
  const [alone, ...rest] = checkStalls(figures)
  const busiest = worstOf(rows, ({ maxTurnCpuMs }) => maxTurnCpuMs)
  return [
    { ...alone!, label: 'extra wait beside any one request that is hard to translate' },
    ...rows
      .filter(({ copies }) => copies > 1)
      .flatMap(({ shape, copies, waited }) => [
        check({
          label: `extra wait beside ${copies} callers that send ${shape}`,
          value: waited.worstMs - quiet.medianMs,
          limit,
        }),
        check({
          label: '  the same for 999 of 1,000 calls',
          value: waited.p999Ms - quiet.medianMs,
          limit,
        }),
      ]),
    check({
      label: 'most CPU time in one turn of the main thread',
      value: busiest.waited.maxTurnCpuMs,
      limit,
      note: busiest.shape,
    }),
    ...rest,
  ]
}
