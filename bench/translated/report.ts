// Turns measured slices of translated calls into figures, a table and verdicts. Pure.
// Refuses to know how anything was measured.

import type { Slice } from '../cpu/report.ts'
import {
  type Columns,
  check,
  formatRatio,
  formatRows,
  megabytes,
  type Verdict,
} from '../lib/report.ts'
import { median } from '../lib/stats.ts'
import type { Mode } from '../payload/index.ts'

/** One kind of call: `messages>chat`; `chat>chat` for the caller's own style. */
export interface PairSlice extends Slice {
  pair: string
}

interface Spread {
  lowest: number
  middle: number
  highest: number
}

interface PairFigures {
  mode: Mode
  pair: string
  target: string
  cpuMicrosPerRequest: number
  /** CPU beside the caller's own style with a mapped name, round by round. */
  ownRatio: Spread
  nginxRatio: number
  rssBytes: number
  served: number
  failed: number
}

export const sameName = 'same name'
const limits: Record<Mode, string> = { json: '<= 1.5x own style', stream: '<= 2x own style' }
const labels: Record<Mode, string> = { json: 'JSON', stream: 'stream' }

const callerOf = (pair: string): string => pair.slice(0, pair.indexOf('>'))
const ownPair = (pair: string): string => `${callerOf(pair)}>${callerOf(pair)}`
const keyOf = (mode: Mode, target: string, pair: string) => `${mode} ${target} ${pair}`

/** Medians over rounds; ratios are of slices of one round. */
export function summarisePairs(slices: readonly PairSlice[]): PairFigures[] {
  const groups = Map.groupBy(slices, ({ mode, target, pair }) => keyOf(mode, target, pair))
  return [...groups.values()].map((group) => {
    const { mode, pair, target } = group[0]!
    const ratios = (other: string) => ratiosTo(group, groups.get(keyOf(mode, other, ownPair(pair))))
    return {
      mode,
      pair,
      target,
      cpuMicrosPerRequest: median(group.map((slice) => slice.cpuMicrosPerRequest)),
      ownRatio: spreadOf(ratios('gateway')),
      nginxRatio: spreadOf(ratios('nginx')).middle,
      rssBytes: Math.max(...group.map((slice) => slice.rssBytes)),
      served: group.reduce((sum, slice) => sum + slice.served, 0),
      failed: group.reduce((sum, slice) => sum + slice.failed, 0),
    }
  })
}

const ratiosTo = (own: readonly PairSlice[], other: readonly PairSlice[] = []): number[] =>
  own.flatMap((slice, round) => {
    const beside = other[round]
    return beside === undefined ? [] : [slice.cpuMicrosPerRequest / beside.cpuMicrosPerRequest]
  })

const spreadOf = (ratios: readonly number[]): Spread =>
  ratios.length === 0
    ? { lowest: Number.NaN, middle: Number.NaN, highest: Number.NaN }
    : { lowest: Math.min(...ratios), middle: median(ratios), highest: Math.max(...ratios) }

const columns: Columns<PairFigures> = {
  call: (row) => labels[row.mode],
  pair: (row) => row.pair,
  target: (row) => row.target,
  'CPU us/req': (row) => row.cpuMicrosPerRequest,
  'x own style': ({ ownRatio }) => formatRatio(ownRatio.middle),
  'from to': ({ ownRatio: { lowest, highest } }) =>
    `${formatRatio(lowest)} ${formatRatio(highest)}`,
  'x nginx': (row) => formatRatio(row.nginxRatio),
  'RSS MB': (row) => megabytes(row.rssBytes),
  failed: (row) => row.failed,
}

export const formatPairs = (figures: readonly PairFigures[]): string => formatRows(columns, figures)

const isTranslated = ({ target, pair }: PairFigures): boolean =>
  target === 'gateway' && pair !== ownPair(pair) && !pair.endsWith(sameName)

export const checkPairs = (figures: readonly PairFigures[]): Verdict[] =>
  figures.filter(isTranslated).map(({ mode, pair, ownRatio }) =>
    check({
      label: `${labels[mode]} CPU, ${pair}`,
      value: ownRatio.middle,
      limit: limits[mode],
    }),
  )
