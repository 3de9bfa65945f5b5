// Where calls went and how long they took, by latency and by default, as a table and verdicts. Pure. Refuses to
// know how anything was measured.

import { check, formatNumber, formatPercent, formatRows, type Verdict } from '../lib/report.ts'

export const routings = ['load', 'latency'] as const
export type Routing = (typeof routings)[number]

export interface Phase {
  name: string
  seconds: number
  served: number
  failed: number
  /** Requests that each channel got. */
  calls: Record<string, number>
  p50Ms: number
  p99Ms: number
}

export interface LatencyFigures {
  routing: Routing
  /** Slow, new, recovered. */
  phases: Phase[]
  /** From when it was fast again until it had its share; undefined when it never had. */
  recoveredMs?: number
}

/** Of an equal share of three channels. */
const wantedShare = 0.5 / 3

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)

export function shareOf({ calls }: Phase, channel: string): number {
  const total = sum(Object.values(calls))
  return total === 0 ? 0 : (calls[channel] ?? 0) / total
}

/** The channel that was slow has calls as one of three does. */
export const recovered = (phase: Phase): boolean => shareOf(phase, 'slow') >= wantedShare

type Row = Phase & { routing: Routing }

export function formatLatency(figures: readonly LatencyFigures[]): string {
  const rows = figures.flatMap(({ routing, phases }) =>
    phases.map((phase): Row => ({ ...phase, routing })),
  )
  const table = formatRows<Row>(
    {
      routing: ({ routing }) => routing,
      phase: ({ name }) => name,
      'calls/s': ({ served, seconds }) => Math.round(served / seconds),
      failed: ({ failed }) => failed,
      fast: (row) => formatPercent(shareOf(row, 'fast')),
      slow: (row) => formatPercent(shareOf(row, 'slow')),
      new: (row) => formatPercent(shareOf(row, 'new')),
      'p50 ms': ({ p50Ms }) => p50Ms,
      'p99 ms': ({ p99Ms }) => p99Ms,
    },
    rows,
  )
  const ends = figures.map(({ routing, recoveredMs }) =>
    recoveredMs === undefined
      ? `${routing}: the channel that was slow did not get its share back`
      : `${routing}: the channel that was slow had its share ${formatNumber(recoveredMs / 1000)} s after it was fast`,
  )
  return [table, ...ends].join('\n')
}

export function checkLatency(figures: readonly LatencyFigures[]): Verdict[] {
  const [load, latency] = routings.map((routing) =>
    figures.find((each) => each.routing === routing),
  )
  const failed = sum(figures.flatMap(({ phases }) => phases.map((phase) => phase.failed)))
  const share = (of: LatencyFigures | undefined, at: number, channel: string): number =>
    of?.phases[at] === undefined ? Number.NaN : shareOf(of.phases[at], channel) * 100
  return [
    check({ label: 'calls that failed', value: failed, limit: '= 0', valid: figures.length > 0 }),
    check({
      // One call in twenty is placed as by default, and then goes to the slow one, which is the least busy.
      label: 'calls to the slow channel',
      value: (share(latency, 0, 'slow') / share(load, 0, 'slow')) * 100,
      limit: '<= 50 % of the default',
      note: `${formatNumber(share(latency, 0, 'slow'))} % of all`,
    }),
    check({
      label: 'calls to the slow channel: it is not forgotten',
      value: share(latency, 0, 'slow'),
      limit: '>= 0.1 %',
    }),
    check({
      label: 'calls to a new fast channel',
      value: share(latency, 1, 'new'),
      limit: '>= 30 %',
    }),
    check({
      label: 'seconds until the recovered channel has its share',
      value: (latency?.recoveredMs ?? Number.NaN) / 1000,
      limit: '<= 20',
    }),
  ]
}
