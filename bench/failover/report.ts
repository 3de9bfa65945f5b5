// What became of calls while one of several channels failed, as a table and verdicts. Pure.
// Refuses to know how anything was measured.

import { check, formatNumber, formatPercent, formatRows, type Verdict } from '../lib/report.ts'

export interface Phase {
  name: string
  served: number
  failed: number
  /** Requests that each channel got. */
  attempts: Record<string, number>
  p50Ms: number
  p99Ms: number
}

export interface FailoverFigures {
  failing: string
  before: Phase
  during: Phase
  after: Phase
  /** From the end of the failures until its share was back; undefined when it never was. */
  healedMs?: number
}

/** Of the share it had before. */
export const shareLimit = 0.8

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)
const attemptsOf = ({ attempts }: Phase): number => sum(Object.values(attempts))

export function shareOf(phase: Phase, channel: string): number {
  const total = attemptsOf(phase)
  return total === 0 ? 0 : (phase.attempts[channel] ?? 0) / total
}

/** Attempts beyond one per call, over calls. */
export function extraOf(phase: Phase): number {
  const calls = phase.served + phase.failed
  return (attemptsOf(phase) - calls) / calls
}

export function formatFailover({ before, during, after, healedMs }: FailoverFigures): string {
  const phases = [before, during, after]
  const channels = [...new Set(phases.flatMap(({ attempts }) => Object.keys(attempts)))].sort()
  const shares = channels.map((channel) => [
    `share ${channel}`,
    (phase: Phase) => formatPercent(shareOf(phase, channel)),
  ])
  const table = formatRows<Phase>(
    {
      failing: ({ name }) => name,
      calls: ({ served, failed }) => served + failed,
      failed: ({ failed }) => failed,
      attempts: attemptsOf,
      extra: (phase) => formatPercent(extraOf(phase)),
      ...Object.fromEntries(shares),
      'p50 ms': ({ p50Ms }) => p50Ms,
      'p99 ms': ({ p99Ms }) => p99Ms,
    },
    phases,
  )
  const healed =
    healedMs === undefined
      ? 'the channel did not get its share back'
      : `the channel had its share back ${formatNumber(healedMs / 1000)} s after it healed`
  return `${table}\n${healed}`
}

export function checkFailover({ before, during, after, failing }: FailoverFigures): Verdict[] {
  const phases = [before, during, after]
  const failed = sum(phases.map((phase) => phase.failed))
  const calls = sum(phases.map(({ served }) => served)) + failed
  const back = shareOf(after, failing) / shareOf(before, failing)
  return [
    check({
      label: 'calls that failed with their channel',
      value: failed,
      limit: '= 0',
      valid: during.served > 0,
      note: `of ${calls}`,
    }),
    check({
      label: 'attempts beyond one per call',
      value: extraOf(during) * 100,
      limit: '<= 20 %',
    }),
    check({
      label: 'share of the healed channel',
      value: back * 100,
      limit: `>= ${shareLimit * 100} % of before`,
    }),
  ]
}
