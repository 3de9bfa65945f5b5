// How the cost of a call grows with what the gateway holds, as a table and verdicts. Pure.
// Refuses to know how anything was measured.

import {
  type Columns,
  check,
  formatNumber,
  formatRatio,
  formatRows,
  megabytes,
  type Verdict,
} from '../lib/report.ts'
import { median } from '../lib/stats.ts'

export interface GrowthFigures {
  /** What there is more and more of. */
  what: string
  size: number
  startSeconds: number
  /** CPU for one call, round by round, and of the smallest in the same rounds. */
  micros: readonly number[]
  smallestMicros: readonly number[]
  rssBytes: number
  failed: number
}

const ratios = ({ micros, smallestMicros }: GrowthFigures): number[] =>
  micros.map((value, round) => value / smallestMicros[round]!)

const columns: Columns<GrowthFigures> = {
  'more and more': ({ what }) => what,
  size: ({ size }) => formatNumber(size),
  'CPU us/req': ({ micros }) => median(micros),
  'x smallest': (row) => formatRatio(median(ratios(row))),
  'from to': (row) =>
    `${formatRatio(Math.min(...ratios(row)))} ${formatRatio(Math.max(...ratios(row)))}`,
  'start s': ({ startSeconds }) => startSeconds,
  'RSS MB': ({ rssBytes }) => megabytes(rssBytes),
  failed: ({ failed }) => failed,
}

export const formatGrowth = (rows: readonly GrowthFigures[]): string => formatRows(columns, rows)

/** The first size of each kind is what the others are compared with. */
export const checkGrowth = (rows: readonly GrowthFigures[]): Verdict[] =>
  rows
    .filter((row) => row.micros !== row.smallestMicros)
    .map((row) =>
      check({
        label: `CPU of a call with ${formatNumber(row.size)} ${row.what}`,
        value: median(ratios(row)),
        limit: '<= 1.1x smallest',
      }),
    )
