// What became of a large batch over kills, and of calls beside it, as a table and verdicts. Pure. Refuses to
// know how anything was measured.

import { check, formatNumber, formatRows, type Verdict } from '../lib/report.ts'
import { median } from '../lib/stats.ts'

export interface CallerFigures {
  name: string
  served: number
  failed: number
  p50Ms: number
  p99Ms: number
}

export interface BatchFigures {
  lines: number
  seconds: number
  kills: number
  /** In its files, each under an id of its own. */
  answered: number
  /** Entries of the ledger, and how many calls they are for. */
  charges: number
  chargedOnce: number
  /** By the answers, and by the ledger. */
  costNanos: bigint
  chargedNanos: bigint
  peakBytes: number
  /** Round by round. */
  alone: readonly CallerFigures[]
  beside: readonly CallerFigures[]
}

const maxPeakMb = 250
const maxDelay = 1.3

export function formatBatch(figures: BatchFigures): string {
  const { lines, seconds, kills, answered, charges, peakBytes } = figures
  const table = formatRows<CallerFigures>(
    {
      callers: ({ name }) => name,
      served: ({ served }) => served,
      failed: ({ failed }) => failed,
      'p50 ms': ({ p50Ms }) => p50Ms,
      'p99 ms': ({ p99Ms }) => p99Ms,
    },
    figures.alone.flatMap((alone, round) => [alone, figures.beside[round]!]),
  )
  const batch =
    `${lines} lines in ${formatNumber(seconds)} s with ${kills} kills: ${answered} answered, ` +
    `${charges} charges, peak ${formatNumber(peakBytes / 1024 ** 2)} MB`
  return `${table}\n${batch}`
}

export function checkBatch(figures: BatchFigures): Verdict[] {
  const { lines, answered, charges, chargedOnce, costNanos, chargedNanos, alone, beside } = figures
  const delays = alone.map(({ p99Ms }, round) => beside[round]!.p99Ms / p99Ms)
  return [
    check({
      label: 'lines in the files of the batch',
      value: answered,
      limit: `= ${lines}`,
      valid: figures.kills > 0,
    }),
    check({
      label: 'lines charged once',
      value: chargedOnce,
      limit: `= ${lines}`,
      valid: charges === chargedOnce && costNanos === chargedNanos,
      note: `${charges} charges`,
    }),
    check({
      label: 'memory of the gateway',
      value: figures.peakBytes / 1024 ** 2,
      limit: `<= ${maxPeakMb} MB`,
      valid: figures.peakBytes > 0,
    }),
    check({
      label: 'p99 of calls beside the batch',
      value: median(delays),
      limit: `<= ${maxDelay} x`,
      valid: [...alone, ...beside].every(({ failed, served }) => failed === 0 && served > 0),
      note: `of that without, median of ${delays.length} rounds`,
    }),
  ]
}
