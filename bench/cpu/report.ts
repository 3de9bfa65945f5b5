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
import type { Case } from './cases.ts'

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

export interface CaseSlice extends Slice {
  case: string
}

/** Over the rounds of a run. */
interface Spread {
  min: number
  median: number
  max: number
}

type Figures = Omit<CaseSlice, 'firstFailure'> & {
  /** CPU beside nginx with the same work, round by round. */
  cpuRatio: Spread
  /** CPU beside the same target's chat calls of the same kind. */
  chatRatio: number
  speedRatio: number
}

export const reference = 'nginx'
const usualCase = 'normal'
const styleLimit = '<= 1.2x chat'
const labels: Record<Mode, string> = { json: 'JSON', stream: 'stream' }

type Rate = 'cpuMicrosPerRequest' | 'requestsPerSecond'
type Key = Pick<CaseSlice, 'target' | 'style' | 'mode' | 'case'>

const keyOf = (key: Key): string => `${key.mode} ${key.style} ${key.case} ${key.target}`

/** Medians over rounds, ratios included; served and failed are sums; memory is the largest seen. */
export function summarise(slices: readonly CaseSlice[]): Figures[] {
  const groups = Map.groupBy(slices, keyOf)
  return [...groups.values()].map((group) => {
    const { target, style, mode } = group[0]!
    const middle = (field: Rate | 'p50Ms' | 'p99Ms') => median(group.map((slice) => slice[field]))
    const own = { target, style, mode, case: group[0]!.case }
    const beside = (other: Partial<Key>) => groups.get(keyOf({ ...own, ...other }))
    return {
      ...own,
      served: group.reduce((sum, slice) => sum + slice.served, 0),
      failed: group.reduce((sum, slice) => sum + slice.failed, 0),
      cpuMicrosPerRequest: middle('cpuMicrosPerRequest'),
      requestsPerSecond: middle('requestsPerSecond'),
      p50Ms: middle('p50Ms'),
      p99Ms: middle('p99Ms'),
      rssBytes: Math.max(...group.map((slice) => slice.rssBytes)),
      peakBytes: Math.max(...group.map((slice) => slice.peakBytes)),
      cpuRatio: spreadOf(ratios(group, beside({ target: reference }), 'cpuMicrosPerRequest')),
      chatRatio: median(ratios(group, beside({ style: 'chat' }), 'cpuMicrosPerRequest')),
      speedRatio: median(ratios(group, beside({ target: reference }), 'requestsPerSecond')),
    }
  })
}

/** Round by round: what slows the machine down for a while slows both down. */
function ratios(own: readonly Slice[], other: readonly Slice[] = [], field: Rate): number[] {
  if (other.length === 0) return []
  return own.map((slice, i) => slice[field] / (other[i] ?? other.at(-1)!)[field])
}

const spreadOf = (values: readonly number[]): Spread =>
  values.length === 0
    ? { min: Number.NaN, median: Number.NaN, max: Number.NaN }
    : { min: Math.min(...values), median: median(values), max: Math.max(...values) }

const columns: Columns<Figures> = {
  call: (row) => labels[row.mode],
  style: (row) => row.style,
  case: (row) => row.case,
  target: (row) => row.target,
  'CPU us/req': (row) => row.cpuMicrosPerRequest,
  'x nginx': ({ cpuRatio }) => formatRatio(cpuRatio.median),
  'from to': ({ cpuRatio: { min, max } }) => `${formatRatio(min)} ${formatRatio(max)}`,
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

interface Conditions {
  cases: readonly Case[]
  connections: number
  /** Memory some seconds after the load of the ordinary cases. */
  restBytes?: number | undefined
}

/** Chat is compared with nginx case by case, and the other styles with chat. */
export function checkFigures(
  figures: readonly Figures[],
  { cases, connections, restBytes }: Conditions,
): Verdict[] {
  const own = figures.filter((row) => row.target === 'gateway')
  const isOrdinary = (name: string) => cases.some((each) => each.name === name && each.isOrdinary)
  const cpu = own.flatMap((row) => {
    const limits = cases.find(({ name }) => name === row.case)?.limits
    return checkRow(row, limits?.[row.mode])
  })
  const ordinary = own.filter((row) => isOrdinary(row.case))
  const memoryLimit = (label: string, bytes: number, limit: string) =>
    check({ label, value: megabytes(bytes), limit, valid: ordinary.length > 0 })
  if (ordinary.length === 0) return cpu
  const rss = Math.max(...ordinary.map((row) => row.rssBytes))
  return [
    ...cpu,
    ...checkNames(own),
    memoryLimit(`RSS at ${connections} connections`, rss, '< 120 MB'),
    ...(restBytes === undefined ? [] : [memoryLimit('RSS after the load', restBytes, '< 100 MB')]),
  ]
}

function checkRow(row: Figures, limit: string | undefined): Verdict[] {
  const { style, mode, cpuRatio, chatRatio } = row
  if (style !== 'chat') {
    const label = `${labels[mode]} CPU, ${style}`
    return [check({ label, value: chatRatio, limit: styleLimit })]
  }
  if (limit === undefined) return []
  const { min, max } = cpuRatio
  const label = `${labels[mode]} CPU, chat, ${row.case}`
  const note = `${formatRatio(min)} to ${formatRatio(max)}`
  return [check({ label, value: cpuRatio.median, limit, note })]
}

/** What restoring the caller's name in every event costs. */
function checkNames(own: readonly Figures[]): Verdict[] {
  const cost = (name: string) =>
    own.find((row) => row.style === 'chat' && row.mode === 'stream' && row.case === name)
      ?.cpuMicrosPerRequest
  const pairs = [
    [usualCase, 'unmapped', 'ten events per write'],
    ['single', 'unmapped-single', 'one event per write'],
  ] as const
  return pairs.flatMap(([mapped, unmapped, how]) => {
    const [dear, cheap] = [cost(mapped), cost(unmapped)]
    if (dear === undefined || cheap === undefined) return []
    const label = `restoring the name in 100 events, ${how}`
    return [check({ label, value: dear - cheap, limit: '<= 50 us' })]
  })
}
