import { expect, test } from 'bun:test'
import { checkHostile, checkStalls, everyShape, formatStalls, type StallFigures } from './report.ts'

const mebibyte = 1024 * 1024
const figures: StallFigures = {
  quietMs: 3,
  rows: [
    { shape: 'a', copies: 1, statuses: [200], worstMs: 49, peakBytes: 200 * mebibyte },
    { shape: 'b', copies: 1, statuses: [413], worstMs: 12, peakBytes: 150 * mebibyte },
    { shape: 'b', copies: 4, statuses: [413, 429], worstMs: 90, peakBytes: 400 * mebibyte },
  ],
  baseBytes: 100 * mebibyte,
  restBytes: 120 * mebibyte,
}
const met = (given: StallFigures) => checkStalls(given).map((verdict) => verdict.met)

test('the worst of single bodies counts, and what stays in memory', () => {
  expect(met(figures)).toEqual([true, true, true])
  const slower = figures.rows.map((row) => ({ ...row, worstMs: row.worstMs + 2 }))
  expect(met({ ...figures, rows: slower })).toEqual([false, true, true])
  expect(met({ ...figures, restBytes: 300 * mebibyte })).toEqual([true, false, true])
})

test('a body that was not answered is reported', () => {
  const rows = [{ ...figures.rows[0]!, statuses: [0] }]
  expect(met({ ...figures, rows })).toEqual([true, true, false])
})

test('the table has a row for each, and for the time before and after', () => {
  expect(formatStalls(figures).split('\n')).toHaveLength(2 + figures.rows.length + 2)
})

test('beside hostile requests, the extra wait counts, of one caller and of several', () => {
  const several = { ...figures.rows[2]!, shape: everyShape, worstMs: 60 }
  const given = { ...figures, quietMs: 5, rows: [...figures.rows.slice(0, 2), several] }
  expect(checkHostile(given).map((verdict) => verdict.met)).toEqual([true, false, true, true])
})
