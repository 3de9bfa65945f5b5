// What the poller did with tasks in flight, as tables and verdicts. Pure.
// Refuses to know how anything was measured.

import { type Columns, check, formatRows, megabytes, type Verdict } from '../lib/report.ts'
import { percentile } from '../lib/stats.ts'

/** One task: when its upstream had ended it, when the gateway had, and how often it polled. */
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
  maxInFlight: number
  lagP50Ms: number
  lagP99Ms: number
  lagMaxMs: number
  pollsMean: number
  pollsP99: number
  pollsPerSecond: number
  maxConcurrentPolls: number
  peakBytes: number
  cpuPercent: number
}

export interface StartFigures {
  rows: number
  readyMs: number
  /** In the time after it was ready. */
  pollsPerSecond: number
  maxConcurrentPolls: number
  peakBytes: number
}

export function summariseNoticed(tasks: readonly Noticed[]) {
  const ended = tasks.filter(({ finishedMs }) => finishedMs !== undefined)
  const lags = ended.map(({ endMs, finishedMs }) => finishedMs! - endMs).toSorted((a, b) => a - b)
  const polls = tasks.map((task) => task.polls).toSorted((a, b) => a - b)
  return {
    tasks: tasks.length,
    ended: ended.length,
    lagP50Ms: percentile(lags, 0.5),
    lagP99Ms: percentile(lags, 0.99),
    lagMaxMs: percentile(lags, 1),
    pollsMean: polls.reduce((sum, count) => sum + count, 0) / polls.length,
    pollsP99: percentile(polls, 0.99),
  }
}

const pollerColumns: Columns<PollerFigures> = {
  'tasks ended': (row) => `${row.ended} of ${row.tasks}`,
  'in flight': (row) => row.maxInFlight,
  'noticed p50 s': (row) => row.lagP50Ms / 1000,
  'p99 s': (row) => row.lagP99Ms / 1000,
  'largest s': (row) => row.lagMaxMs / 1000,
  'polls/task': (row) => row.pollsMean,
  p99: (row) => row.pollsP99,
  'polls/s': (row) => row.pollsPerSecond,
  'at once': (row) => row.maxConcurrentPolls,
  'peak MB': (row) => megabytes(row.peakBytes),
  'CPU %': (row) => row.cpuPercent,
}

const startColumns: Columns<StartFigures> = {
  'rows in flight': (row) => row.rows,
  'ready s': (row) => row.readyMs / 1000,
  'then polls/s': (row) => row.pollsPerSecond,
  'at once': (row) => row.maxConcurrentPolls,
  'peak MB': (row) => megabytes(row.peakBytes),
}

export const formatPoller = (figures: PollerFigures): string => formatRows(pollerColumns, [figures])
export const formatStart = (figures: StartFigures): string => formatRows(startColumns, [figures])

export function checkPoller(figures: PollerFigures): Verdict[] {
  const { tasks, ended, lagP99Ms, pollsMean, peakBytes } = figures
  const valid = ended === tasks && tasks > 0
  return [
    check({
      label: 'completions noticed, p99',
      value: lagP99Ms / 1000,
      limit: '<= 5 s',
      valid,
      note: `${ended} of ${tasks}`,
    }),
    check({ label: 'upstream polls per task, mean', value: pollsMean, limit: '< 12', valid }),
    check({
      label: 'memory with tasks in flight, peak',
      value: megabytes(peakBytes),
      limit: '< 300 MB',
      valid,
    }),
  ]
}

export const checkStart = ({ rows, readyMs }: StartFigures): Verdict[] => [
  check({
    label: `start-up with ${rows} tasks in flight`,
    value: readyMs / 1000,
    limit: '< 3 s',
  }),
]
