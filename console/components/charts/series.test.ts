// What is drawn of the values of a chart.
import { expect, test } from 'bun:test'
import { isEmpty, lonePoints, type Series, stacked, stepOf, tickSteps } from './series.ts'

const of = (...values: (number | null)[]): Series => ({ name: 'a', color: 'red', values })

test('bars stand on those before them', () => {
  expect(stacked([of(1, null, 3), of(2, 2, 2)], 3)).toEqual([
    [1, 0, 3],
    [3, 2, 5],
  ])
})

test('a value between two gaps is a point of its own', () => {
  expect(lonePoints([1, null, 2, 3, null, 4])).toEqual([0, 5])
  expect(lonePoints([null])).toEqual([])
  expect(lonePoints([7])).toEqual([0])
})

test('the width of a bar is the smallest step', () => {
  expect(stepOf([0, 30, 58], 1)).toBe(28)
  expect(stepOf([5], 60)).toBe(60)
})

test('nothing but zeros is no data', () => {
  expect(isEmpty([of(0, null), of()])).toBe(true)
  expect(isEmpty([of(0), of(0.1)])).toBe(false)
})

test('an axis of days has no tick within a day, also where a day is short', () => {
  const day = 86_400
  expect(tickSteps([0, day, 2 * day])?.[0]).toBe(day)
  expect(tickSteps([0, 23 * 3_600, 47 * 3_600])?.[0]).toBe(day)
  expect(tickSteps([0, 3_600, 7_200])).toBeUndefined()
})
