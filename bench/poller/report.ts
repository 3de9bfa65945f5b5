// What the poller did with tasks in flight, as tables and verdicts. Pure.
// Refuses to know how anything was measured.

import { percentile } from '../lib/stats.ts'
import { formatMegabytes, formatNumber, formatTable } from '../lib/table.ts'
import type { Verdict } from '../lib/verdict.ts'

/** One task: when its upstream had ended it, when the gateway had, and how often it asked. */
export interface Noticed {
  endMs: number
  /** Undefined when the gateway never noticed. */
  finishedMs: number | undefined
  polls: number
}

export interface PollerFigures {
  tasks: number
  ended: number
  /** In flight at the same time. */
  mostInFlight: number
  lagP50Ms: number
  lagP99Ms: number
  lagLargestMs: number
  pollsMean: number
  pollsP99: number
  pollsPerSecond: number
  mostAtOnce: number
  peakBytes: number
  cpuPercent: number
}

export interface StartFigures {
  rows: number
  readyMs: number
  /** In the time after it was ready. */
  pollsPerSecond: number
  mostAtOnce: number
  peakBytes: number
}

const lagLimitMs = 5_000
const pollsLimit = 12
const memoryLimitBytes = 300_000_000
const readyLimitMs = 3_000

export function summariseNoticed(tasks: readonly Noticed[]) {
  const ended = tasks.filter(({ finishedMs }) => finishedMs !== undefined)
  const lags = ended.map(({ endMs, finishedMs }) => finishedMs! - endMs).toSorted((a, b) => a - b)
  const polls = tasks.map((task) => task.polls).toSorted((a, b) => a - b)
  return {
    tasks: tasks.length,
    ended: ended.length,
    lagP50Ms: percentile(lags, 0.5),
    lagP99Ms: percentile(lags, 0.99),
    lagLargestMs: percentile(lags, 1),
    pollsMean: polls.reduce((sum, count) => sum + count, 0) / polls.length,
    pollsP99: percentile(polls, 0.99),
  }
}

export function formatPoller(figures: PollerFigures): string {
  const heading = [
    'tasks ended',
    'in flight',
    'noticed p50 s',
    'p99 s',
    'largest s',
    'polls/task',
    'p99',
    'polls/s',
    'at once',
    'peak MB',
    'CPU %',
  ]
  const row = [
    `${figures.ended} of ${figures.tasks}`,
    String(figures.mostInFlight),
    formatNumber(figures.lagP50Ms / 1000),
    formatNumber(figures.lagP99Ms / 1000),
    formatNumber(figures.lagLargestMs / 1000),
    formatNumber(figures.pollsMean),
    String(figures.pollsP99),
    formatNumber(figures.pollsPerSecond),
    String(figures.mostAtOnce),
    formatMegabytes(figures.peakBytes),
    formatNumber(figures.cpuPercent),
  ]
  return formatTable([heading, row], [])
}

export function formatStart(figures: StartFigures): string {
  const heading = ['rows in flight', 'ready s', 'then polls/s', 'at once', 'peak MB']
  const row = [
    String(figures.rows),
    formatNumber(figures.readyMs / 1000),
    formatNumber(figures.pollsPerSecond),
    String(figures.mostAtOnce),
    formatMegabytes(figures.peakBytes),
  ]
  return formatTable([heading, row], [])
}

export function judgePoller(figures: PollerFigures): Verdict[] {
  const all = figures.ended === figures.tasks && figures.tasks > 0
  return [
    {
      what: 'completions noticed, p99',
      limit: `<= ${lagLimitMs / 1000} s`,
      measured: `${formatNumber(figures.lagP99Ms / 1000)} s, ${figures.ended} of ${figures.tasks}`,
      met: all && figures.lagP99Ms <= lagLimitMs,
    },
    {
      what: 'upstream polls per task, mean',
      limit: `< ${pollsLimit}`,
      measured: formatNumber(figures.pollsMean),
      met: all && figures.pollsMean < pollsLimit,
    },
    {
      what: 'memory with tasks in flight, peak',
      limit: `< ${formatMegabytes(memoryLimitBytes)} MB`,
      measured: `${formatMegabytes(figures.peakBytes)} MB`,
      met: all && figures.peakBytes < memoryLimitBytes,
    },
  ]
}

export function judgeStart(figures: StartFigures): Verdict[] {
  return [
    {
      what: `start-up with ${figures.rows} tasks in flight`,
      limit: `< ${readyLimitMs / 1000} s`,
      measured: `${formatNumber(figures.readyMs / 1000)} s`,
      met: figures.readyMs < readyLimitMs,
    },
  ]
}
