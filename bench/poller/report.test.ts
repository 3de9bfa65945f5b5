import { expect, test } from 'bun:test'
import {
  checkPoller,
  checkStart,
  formatPoller,
  formatStart,
  type PollerFigures,
  type StartFigures,
  summariseNoticed,
} from './report.ts'

const poller: PollerFigures = {
  tasks: 10_000,
  ended: 10_000,
  maxInFlight: 9_990,
  lagP50Ms: 1_800,
  lagP99Ms: 5_000,
  lagMaxMs: 8_120,
  pollsMean: 11.9,
  pollsP99: 19,
  pollsPerSecond: 901,
  maxConcurrentPolls: 240,
  peakBytes: 299_000_000,
  cpuPercent: 61.2,
}
const start: StartFigures = {
  rows: 100_000,
  readyMs: 2_990,
  pollsPerSecond: 1_000,
  maxConcurrentPolls: 512,
  peakBytes: 150_000_000,
}

const met = (verdicts: { met: boolean }[]) => verdicts.map((verdict) => verdict.met)

test('every limit of the poller counts', () => {
  expect(met(checkPoller(poller))).toEqual([true, true, true])
  expect(met(checkPoller({ ...poller, lagP99Ms: 5_001 }))).toEqual([false, true, true])
  expect(met(checkPoller({ ...poller, pollsMean: 12 }))).toEqual([true, false, true])
  expect(met(checkPoller({ ...poller, peakBytes: 300_000_000 }))).toEqual([true, true, false])
  expect(met(checkStart(start))).toEqual([true])
  expect(met(checkStart({ ...start, readyMs: 3_000 }))).toEqual([false])
})

test('no limit is kept by tasks that never ended', () => {
  expect(met(checkPoller({ ...poller, ended: 9_999 }))).toEqual([false, false, false])
  expect(met(checkPoller({ ...poller, tasks: 0, ended: 0 }))).toEqual([false, false, false])
})

test('lags are those of tasks that ended, polls those of all', () => {
  const noticed = summariseNoticed([
    { endMs: 1_000, finishedMs: 3_000, polls: 4 },
    { endMs: 1_000, finishedMs: 2_000, polls: 6 },
    { endMs: 1_000, finishedMs: undefined, polls: 20 },
  ])
  expect(noticed).toEqual({
    tasks: 3,
    ended: 2,
    lagP50Ms: 1_000,
    lagP99Ms: 2_000,
    lagMaxMs: 2_000,
    pollsMean: 10,
    pollsP99: 20,
  })
})

test('the tables show what was measured', () => {
  expect(formatPoller(poller)).toMatch(/10000 of 10000 +9,990 +1\.80 +5 +8\.12 +11\.9 +19 +901/)
  expect(formatStart(start)).toMatch(/100,000 +2\.99 +1,000 +512 +150/)
})
