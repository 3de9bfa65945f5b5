// Turns measured slices into figures, a table and verdicts. Pure.
// Refuses to know how anything was measured.

import type { Mode } from './payload.ts'
import { median } from './stats.ts'
import { formatMegabytes, formatNumber, formatRatio, formatTable } from './table.ts'

export interface Slice {
  target: string
  mode: Mode
  served: number
  failed: number
  firstFailure?: string
  cpuMicrosPerRequest: number
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  rssBytes: number
  peakBytes: number
}

export type Figures = Omit<Slice, 'firstFailure'> & { cpuRatio: number; speedRatio: number }

export interface Verdict {
  what: string
  limit: string
  measured: string
  met: boolean
}

export const reference = 'nginx'
const cpuLimits: Record<Mode, number> = { json: 6, stream: 3.5 }
const rssLimitBytes = 120_000_000
const labels: Record<Mode, string> = { json: 'JSON', stream: 'stream' }

/** Medians over rounds, ratios included; served and failed are sums; memory is the largest seen. */
export function summarise(slices: readonly Slice[]): Figures[] {
  const groups = Map.groupBy(slices, (slice) => `${slice.mode} ${slice.target}`)
  const rows = [...groups.values()].map((group) => {
    const middle = (field: 'cpuMicrosPerRequest' | 'requestsPerSecond' | 'p50Ms' | 'p99Ms') =>
      median(group.map((slice) => slice[field]))
    return {
      target: group[0]!.target,
      mode: group[0]!.mode,
      served: group.reduce((sum, slice) => sum + slice.served, 0),
      failed: group.reduce((sum, slice) => sum + slice.failed, 0),
      cpuMicrosPerRequest: middle('cpuMicrosPerRequest'),
      requestsPerSecond: middle('requestsPerSecond'),
      p50Ms: middle('p50Ms'),
      p99Ms: middle('p99Ms'),
      rssBytes: Math.max(...group.map((slice) => slice.rssBytes)),
      peakBytes: Math.max(...group.map((slice) => slice.peakBytes)),
    }
  })
  return rows.map((row) => {
    const own = groups.get(`${row.mode} ${row.target}`) ?? []
    const beside = groups.get(`${row.mode} ${reference}`) ?? []
    // Round by round: what slows the machine down for a while slows both down.
    const ratio = (field: 'cpuMicrosPerRequest' | 'requestsPerSecond') =>
      beside.length === 0
        ? Number.NaN
        : median(own.map((slice, i) => slice[field] / (beside[i] ?? beside.at(-1)!)[field]))
    return {
      ...row,
      cpuRatio: ratio('cpuMicrosPerRequest'),
      speedRatio: ratio('requestsPerSecond'),
    }
  })
}

export function formatFigures(figures: readonly Figures[]): string {
  const heading = [
    'call',
    'target',
    'CPU us/req',
    'x nginx',
    'req/s',
    'x nginx',
    'p50 ms',
    'p99 ms',
    'RSS MB',
    'peak MB',
    'failed',
  ]
  const rows = figures.map((row) => [
    labels[row.mode],
    row.target,
    formatNumber(row.cpuMicrosPerRequest),
    formatRatio(row.cpuRatio),
    formatNumber(row.requestsPerSecond),
    formatRatio(row.speedRatio),
    formatNumber(row.p50Ms),
    formatNumber(row.p99Ms),
    formatMegabytes(row.rssBytes),
    formatMegabytes(row.peakBytes),
    String(row.failed),
  ])
  return formatTable([heading, ...rows], [0, 1])
}

/** The gateway against its limits. A figure that is no number has not met its limit. */
export function judge(figures: readonly Figures[], connections: number): Verdict[] {
  const own = figures.filter((row) => row.target === 'gateway')
  const verdicts = own.map((row) => ({
    what: `${labels[row.mode]} CPU`,
    limit: `<= ${cpuLimits[row.mode]}x nginx`,
    measured: formatRatio(row.cpuRatio),
    met: row.cpuRatio <= cpuLimits[row.mode],
  }))
  const rssBytes = Math.max(...own.map((row) => row.rssBytes))
  verdicts.push({
    what: `RSS at ${connections} connections`,
    limit: `< ${formatMegabytes(rssLimitBytes)} MB`,
    measured: `${formatMegabytes(rssBytes)} MB`,
    met: own.length > 0 && rssBytes < rssLimitBytes,
  })
  return verdicts
}

export function formatVerdicts(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map((verdict) => [
    verdict.what,
    verdict.limit,
    verdict.measured,
    verdict.met ? 'met' : 'MISSED',
  ])
  return formatTable([['limit', 'allowed', 'measured', 'verdict'], ...rows], [0, 1, 3])
}
