// Turns measured slices of CPU into figures, a table and verdicts. Pure.
// Refuses to know how anything was measured.

import {
  type Columns,
  check,
  formatRatio,
  formatRows,
  megabytes,
  type Verdict,
} from '../lib/report.ts'
import { median } from '../lib/stats.ts'
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

type Figures = Omit<Slice, 'firstFailure'> & {
  /** CPU beside nginx with the same payload. */
  cpuRatio: number
  /** CPU beside the same target's chat calls of the same kind. */
  chatRatio: number
  speedRatio: number
}

export const reference = 'nginx'
const cpuLimits: Record<Mode, string> = { json: '<= 6x nginx', stream: '<= 3.5x nginx' }
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

const columns: Columns<Figures> = {
  call: (row) => labels[row.mode],
  style: (row) => row.style,
  target: (row) => row.target,
  'CPU us/req': (row) => row.cpuMicrosPerRequest,
  'x nginx': (row) => formatRatio(row.cpuRatio),
  'x chat': (row) => formatRatio(row.chatRatio),
  'req/s': (row) => row.requestsPerSecond,
  'x nginx req/s': (row) => formatRatio(row.speedRatio),
  'p50 ms': (row) => row.p50Ms,
  'p99 ms': (row) => row.p99Ms,
  'RSS MB': (row) => megabytes(row.rssBytes),
  'peak MB': (row) => megabytes(row.peakBytes),
  failed: (row) => row.failed,
}

export const formatFigures = (figures: readonly Figures[]): string => formatRows(columns, figures)

/** Chat is compared with nginx, and the other styles with chat. */
export function checkFigures(figures: readonly Figures[], connections: number): Verdict[] {
  const own = figures.filter((row) => row.target === 'gateway')
  const cpu = own.map(({ style, mode, cpuRatio, chatRatio }) =>
    check({
      label: `${labels[mode]} CPU, ${style}`,
      ...(style === 'chat'
        ? { value: cpuRatio, limit: cpuLimits[mode] }
        : { value: chatRatio, limit: '<= 1.3x chat' }),
    }),
  )
  const rss = check({
    label: `RSS at ${connections} connections`,
    value: megabytes(Math.max(...own.map((row) => row.rssBytes))),
    limit: '< 120 MB',
    valid: own.length > 0,
  })
  return [...cpu, rss]
}
