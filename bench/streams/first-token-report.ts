// Delays of the first token, round by round, as a table and a verdict. Pure.
// Refuses to know how anything was measured.

import { median } from '../lib/stats.ts'
import { formatNumber, formatRatio, formatTable } from '../lib/table.ts'
import type { Verdict } from '../lib/verdict.ts'

export const ways = ['direct', 'nginx', 'gateway'] as const
export type Way = (typeof ways)[number]

export interface Delays {
  served: number
  failed: number
  p50Ms: number
  p99Ms: number
}

export type Round = Record<Way, Delays>

export interface FirstTokenRow extends Delays {
  way: Way
  /** What this way takes longer than the direct one, and than nginx. */
  overDirect: { p50Ms: number; p99Ms: number }
  overNginx: { p50Ms: number; p99Ms: number }
  nginxRatio: number
}

const addedLimitMs = 1

/** Medians over rounds; differences and ratios are those of one round. */
export function summariseFirstToken(rounds: readonly Round[]): FirstTokenRow[] {
  return ways.map((way) => {
    const middle = (figure: (round: Round) => number) => median(rounds.map(figure))
    const over = (other: Way) => ({
      p50Ms: middle((round) => round[way].p50Ms - round[other].p50Ms),
      p99Ms: middle((round) => round[way].p99Ms - round[other].p99Ms),
    })
    return {
      way,
      served: rounds.reduce((sum, round) => sum + round[way].served, 0),
      failed: rounds.reduce((sum, round) => sum + round[way].failed, 0),
      p50Ms: middle((round) => round[way].p50Ms),
      p99Ms: middle((round) => round[way].p99Ms),
      overDirect: over('direct'),
      overNginx: over('nginx'),
      nginxRatio: middle((round) => round[way].p50Ms / round.nginx.p50Ms),
    }
  })
}

export function formatFirstToken(rows: readonly FirstTokenRow[]): string {
  const heading = [
    'first token',
    'p50 ms',
    'p99 ms',
    '+direct p50',
    '+direct p99',
    '+nginx p50',
    '+nginx p99',
    'x nginx',
    'streams',
    'failed',
  ]
  const lines = rows.map((row) => [
    row.way,
    formatNumber(row.p50Ms),
    formatNumber(row.p99Ms),
    formatNumber(row.overDirect.p50Ms),
    formatNumber(row.overDirect.p99Ms),
    formatNumber(row.overNginx.p50Ms),
    formatNumber(row.overNginx.p99Ms),
    formatRatio(row.nginxRatio),
    String(row.served),
    String(row.failed),
  ])
  return formatTable([heading, ...lines], [0])
}

export function judgeFirstToken(rows: readonly FirstTokenRow[]): Verdict[] {
  const added = rows.find((row) => row.way === 'gateway')?.overDirect
  const p50Ms = added?.p50Ms ?? Number.NaN
  return [
    {
      what: 'first token, added by the gateway, p50',
      limit: `<= ${addedLimitMs} ms`,
      measured: `${formatNumber(p50Ms)} ms (p99 ${formatNumber(added?.p99Ms ?? Number.NaN)} ms)`,
      met: p50Ms <= addedLimitMs,
    },
  ]
}
