// Turns measured slices of CPU into figures, a table and verdicts. Pure.
// Refuses to know how anything was measured.

import { median } from '../lib/stats.ts'
import { formatMegabytes, formatNumber, formatRatio, formatTable } from '../lib/table.ts'
import type { Verdict } from '../lib/verdict.ts'
import type { Mode, Style } from '../payload/index.ts'

export interface Slice {
  target: string
  style: Style
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

export type Figures = Omit<Slice, 'firstFailure'> & {
  /** CPU beside nginx with the same payload. */
  cpuRatio: number
  /** CPU beside the same target's chat calls of the same kind. */
  chatRatio: number
  speedRatio: number
}

export const reference = 'nginx'
const cpuLimits: Record<Mode, number> = { json: 6, stream: 3.5 }
const chatLimit = 1.3
const rssLimitBytes = 120_000_000
const labels: Record<Mode, string> = { json: 'JSON', stream: 'stream' }

type Rate = 'cpuMicrosPerRequest' | 'requestsPerSecond'
type Key = Pick<Slice, 'target' | 'style' | 'mode'>

const keyOf = ({ mode, style, target }: Key): string => `${mode} ${style} ${target}`

/** Medians over rounds, ratios included; served and failed are sums; memory is the largest seen. */
export function summarise(slices: readonly Slice[]): Figures[] {
  const groups = Map.groupBy(slices, keyOf)
  return [...groups.values()].map((group) => {
    const { target, style, mode } = group[0]!
    const middle = (field: Rate | 'p50Ms' | 'p99Ms') => median(group.map((slice) => slice[field]))
    const beside = (other: Partial<Key>) => groups.get(keyOf({ target, style, mode, ...other }))
    return {
      target,
      style,
      mode,
      served: group.reduce((sum, slice) => sum + slice.served, 0),
      failed: group.reduce((sum, slice) => sum + slice.failed, 0),
      cpuMicrosPerRequest: middle('cpuMicrosPerRequest'),
      requestsPerSecond: middle('requestsPerSecond'),
      p50Ms: middle('p50Ms'),
      p99Ms: middle('p99Ms'),
      rssBytes: Math.max(...group.map((slice) => slice.rssBytes)),
      peakBytes: Math.max(...group.map((slice) => slice.peakBytes)),
      cpuRatio: ratio(group, beside({ target: reference }), 'cpuMicrosPerRequest'),
      chatRatio: ratio(group, beside({ style: 'chat' }), 'cpuMicrosPerRequest'),
      speedRatio: ratio(group, beside({ target: reference }), 'requestsPerSecond'),
    }
  })
}

/** Round by round: what slows the machine down for a while slows both down. */
function ratio(own: readonly Slice[], other: readonly Slice[] = [], field: Rate): number {
  if (other.length === 0) return Number.NaN
  return median(own.map((slice, i) => slice[field] / (other[i] ?? other.at(-1)!)[field]))
}

export function formatFigures(figures: readonly Figures[]): string {
  const heading = [
    'call',
    'style',
    'target',
    'CPU us/req',
    'x nginx',
    'x chat',
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
    row.style,
    row.target,
    formatNumber(row.cpuMicrosPerRequest),
    formatRatio(row.cpuRatio),
    formatRatio(row.chatRatio),
    formatNumber(row.requestsPerSecond),
    formatRatio(row.speedRatio),
    formatNumber(row.p50Ms),
    formatNumber(row.p99Ms),
    formatMegabytes(row.rssBytes),
    formatMegabytes(row.peakBytes),
    String(row.failed),
  ])
  return formatTable([heading, ...rows], [0, 1, 2])
}

/** The gateway against its limits. A figure that is no number has not met its limit. */
export function judge(figures: readonly Figures[], connections: number): Verdict[] {
  const own = figures.filter((row) => row.target === 'gateway')
  const verdicts = own.map(judgeCpu)
  const rssBytes = Math.max(...own.map((row) => row.rssBytes))
  verdicts.push({
    what: `RSS at ${connections} connections`,
    limit: `< ${formatMegabytes(rssLimitBytes)} MB`,
    measured: `${formatMegabytes(rssBytes)} MB`,
    met: own.length > 0 && rssBytes < rssLimitBytes,
  })
  return verdicts
}

/** Chat is held against nginx, and the other styles against chat. */
function judgeCpu({ style, mode, cpuRatio, chatRatio }: Figures): Verdict {
  const [limit, measured, of] =
    style === 'chat' ? [cpuLimits[mode], cpuRatio, 'nginx'] : [chatLimit, chatRatio, 'chat']
  return {
    what: `${labels[mode]} CPU, ${style}`,
    limit: `<= ${limit}x ${of}`,
    measured: formatRatio(measured),
    met: measured <= limit,
  }
}
