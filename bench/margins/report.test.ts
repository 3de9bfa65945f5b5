import { expect, test } from 'bun:test'
import { checkMargins, formatMargins, type MarginFigures } from './report.ts'

const asked = (by: string, ms: number, margin = '1.00') => ({
  by,
  ms,
  status: 200,
  rows: 3,
  margin,
})
const figures = (...all: MarginFigures['asked']): MarginFigures => ({
  ...{ store: 'sqlite', rows: 1000, days: 1, fillSeconds: 1 },
  asked: all,
})

test('a grouping is shown by its median and its slowest answer', () => {
  const text = formatMargins(figures(asked('day', 3), asked('day', 9), asked('day', 5)))
  const [heading, , day] = text.split('\n').map((line) => line.trim().split(/\s{2,}/))
  expect(heading).toEqual(['sqlite, by', 'rows', 'median ms', 'worst ms'])
  expect(day).toEqual(['day', '3', '5', '9'])
})

test('one grouping that takes too long, or that has another sum, misses its limit', () => {
  const met = (...all: MarginFigures['asked']) =>
    checkMargins(figures(...all)).map((each) => each.met)
  expect(met(asked('day', 300), asked('model', 1))).toEqual([true, true])
  expect(met(asked('day', 301), asked('model', 1))).toEqual([false, true])
  expect(met(asked('day', 1), asked('model', 1, '2.00'))).toEqual([true, false])
  expect(met(asked('day', 1), asked('day of one', 1, '0.50'))).toEqual([true, true])
})
