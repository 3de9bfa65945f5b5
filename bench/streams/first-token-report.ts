// Delays of the first token, round by round, as a table and a verdict. Pure.
// Refuses to know how anything was measured.

import {
  type Columns,
  check,
  formatNumber,
  formatRatio,
  formatRows,
  type Verdict,
} from '../lib/report.ts'
import { median } from '../lib/stats.ts'

export const targetNames = ['direct', 'nginx', 'gateway'] as const
export type TargetName = (typeof targetNames)[number]

export interface Delays {
  served: number
  failed: number
  p50Ms: number
  p99Ms: number
}

export type Round = Record<TargetName, Delays>

interface FirstTokenRow extends Delays {
  target: TargetName
  /** How much longer this target takes than the direct connection, and than nginx. */
  overDirect: { p50Ms: number; p99Ms: number }
  overNginx: { p50Ms: number; p99Ms: number }
  nginxRatio: number
}

/** Medians over rounds; differences and ratios are those of one round. */
export function summariseFirstToken(rounds: readonly Round[]): FirstTokenRow[] {
  return targetNames.map((target) => {
    const middle = (figure: (round: Round) => number) => median(rounds.map(figure))
    const over = (other: TargetName) => ({
      p50Ms: middle((round) => round[target].p50Ms - round[other].p50Ms),
      p99Ms: middle((round) => round[target].p99Ms - round[other].p99Ms),
    })
    return {
      target,
      served: rounds.reduce((sum, round) => sum + round[target].served, 0),
      failed: rounds.reduce((sum, round) => sum + round[target].failed, 0),
      p50Ms: middle((round) => round[target].p50Ms),
      p99Ms: middle((round) => round[target].p99Ms),
      overDirect: over('direct'),
      overNginx: over('nginx'),
      nginxRatio: middle((round) => round[target].p50Ms / round.nginx.p50Ms),
    }
  })
}

const columns: Columns<FirstTokenRow> = {
  'first token': ({ target }) => target,
  'p50 ms': ({ p50Ms }) => p50Ms,
  'p99 ms': ({ p99Ms }) => p99Ms,
  '+direct p50': ({ overDirect }) => overDirect.p50Ms,
  '+direct p99': ({ overDirect }) => overDirect.p99Ms,
  '+nginx p50': ({ overNginx }) => overNginx.p50Ms,
  '+nginx p99': ({ overNginx }) => overNginx.p99Ms,
  'x nginx': ({ nginxRatio }) => formatRatio(nginxRatio),
  streams: ({ served }) => served,
  failed: ({ failed }) => failed,
}

export const formatFirstToken = (rows: readonly FirstTokenRow[]): string =>
  formatRows(columns, rows)

export function checkFirstToken(rows: readonly FirstTokenRow[]): Verdict[] {
  const { p50Ms, p99Ms } = rows.find((row) => row.target === 'gateway')?.overDirect ?? {
    p50Ms: Number.NaN,
    p99Ms: Number.NaN,
  }
  const label = 'first token, added by the gateway, p50'
  return [check({ label, value: p50Ms, limit: '<= 1 ms', note: `p99 ${formatNumber(p99Ms)} ms` })]
}
