// What became of calls while one of several channels failed, as a table and verdicts. Pure.
// Refuses to know how anything was measured.

import { formatNumber, formatTable } from '../lib/table.ts'
import type { Verdict } from '../lib/verdict.ts'

export interface Phase {
  name: string
  /** Answered well, and not. */
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

const extraLimit = 0.2
/** Of the share it had before. */
export const shareLimit = 0.8

export function shareOf({ attempts }: Phase, channel: string): number {
  const total = sum(Object.values(attempts))
  return total === 0 ? 0 : (attempts[channel] ?? 0) / total
}

/** Attempts beyond one per call, over calls. */
export function extraOf({ attempts, served, failed }: Phase): number {
  const calls = served + failed
  return (sum(Object.values(attempts)) - calls) / calls
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)
const percent = (share: number): string =>
  Number.isFinite(share) ? `${formatNumber(share * 100)} %` : '-'

export function formatFailover({ before, during, after, healedMs }: FailoverFigures): string {
  const channels = [...new Set([before, during, after].flatMap((each) => keysOf(each)))].sort()
  const shares = channels.map((channel) => `share ${channel}`)
  const heading = ['failing', 'calls', 'failed', 'attempts', 'extra', ...shares, 'p50 ms', 'p99 ms']
  const rows = [before, during, after].map((phase) => [
    phase.name,
    String(phase.served + phase.failed),
    String(phase.failed),
    String(sum(Object.values(phase.attempts))),
    percent(extraOf(phase)),
    ...channels.map((channel) => percent(shareOf(phase, channel))),
    formatNumber(phase.p50Ms),
    formatNumber(phase.p99Ms),
  ])
  const healed =
    healedMs === undefined
      ? 'the channel did not get its share back'
      : `the channel had its share back ${formatNumber(healedMs / 1000)} s after it was well again`
  return `${formatTable([heading, ...rows], [0])}\n${healed}`
}

const keysOf = ({ attempts }: Phase): string[] => Object.keys(attempts)

export function judgeFailover(figures: FailoverFigures): Verdict[] {
  const { before, during, after, failing } = figures
  const extra = extraOf(during)
  const back = shareOf(after, failing) / shareOf(before, failing)
  const failed = before.failed + during.failed + after.failed
  return [
    {
      what: 'calls that failed with their channel',
      limit: '0',
      measured: `${failed} of ${sum([before, during, after].map((each) => each.served)) + failed}`,
      met: failed === 0 && during.served > 0,
    },
    {
      what: 'attempts beyond one per call',
      limit: `<= ${percent(extraLimit)}`,
      measured: percent(extra),
      met: extra <= extraLimit,
    },
    {
      what: 'share of the healed channel',
      limit: `>= ${percent(shareLimit)} of before`,
      measured: percent(back),
      met: back >= shareLimit,
    },
  ]
}
