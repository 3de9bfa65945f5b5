import { expect, test } from 'bun:test'
import {
  checkHostile,
  checkStalls,
  everyShape,
  formatStalls,
  type StallFigures,
  type StallRow,
  type Waited,
} from './report.ts'

const mebibyte = 1024 * 1024
const waitedFor = (worstMs: number): Waited => ({
  sent: 1000,
  failed: 0,
  medianMs: 3,
  p999Ms: worstMs / 2,
  worstMs,
  healthWorstMs: worstMs / 2,
  maxTurnMs: worstMs / 2,
  maxTurnCpuMs: worstMs / 4,
  longTurns: [],
})
const row = (shape: string, copies: number, worstMs: number, statuses = [200]): StallRow => ({
  shape,
  copies,
  statuses,
  waited: waitedFor(worstMs),
  peakBytes: 200 * mebibyte,
})
const figures: StallFigures = {
  quiet: waitedFor(5),
  rows: [row('a', 1, 52), row('b', 1, 12, [413]), row('b', 4, 90, [413, 429])],
  baseBytes: 100 * mebibyte,
  restBytes: 120 * mebibyte,
}
const met = (given: StallFigures) => checkStalls(given).map((verdict) => verdict.met)

test('the worst of single bodies counts, and what stays in memory', () => {
  expect(met(figures)).toEqual([true, true, true, true])
  expect(met({ ...figures, rows: [row('a', 1, 54)] })).toEqual([false, true, true, true])
  expect(met({ ...figures, restBytes: 300 * mebibyte })).toEqual([true, false, true, true])
})

test('a body that was not answered is reported', () => {
  expect(met({ ...figures, rows: [row('a', 1, 9, [0])] })).toEqual([true, true, false, true])
  const failed = { ...row('a', 1, 9), waited: { ...waitedFor(9), failed: 1 } }
  expect(met({ ...figures, rows: [failed] })).toEqual([true, true, true, false])
})

test('the table has a row for each, and for the time before and after', () => {
  expect(formatStalls(figures).split('\n')).toHaveLength(2 + figures.rows.length + 2)
})

test('beside hostile requests, those of several callers count, too, and long turns', () => {
  const given = { ...figures, rows: [row('a', 1, 40), row(everyShape, 4, 60)] }
  const verdicts = checkHostile(given).map((verdict) => verdict.met)
  expect(verdicts).toEqual([true, false, true, true, true, true, true])
  const busy = { ...figures, rows: [row('a', 1, 40), row(everyShape, 4, 240)] }
  expect(
    checkHostile(busy)
      .map((verdict) => verdict.met)
      .slice(0, 4),
  ).toEqual([true, false, false, false])
})
