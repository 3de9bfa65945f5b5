import { expect, test } from 'bun:test'
import { median, percentile } from './stats.ts'

test('a percentile is a value that was measured, by nearest rank', () => {
  const values = Array.from({ length: 200 }, (_, i) => i + 1)
  expect(percentile(values, 0.5)).toBe(100)
  expect(percentile(values, 0.99)).toBe(198)
  expect(percentile(values, 1)).toBe(200)
  expect(percentile(values, 0)).toBe(1)
  expect(percentile([7], 0.99)).toBe(7)
})

test('nothing measured has no percentile and no median', () => {
  expect(percentile([], 0.5)).toBeNaN()
  expect(median([])).toBeNaN()
})

test('the median is the middle value, or between the two middle ones, in any order', () => {
  expect(median([30, 10, 20])).toBe(20)
  expect(median([4, 100, 1, 2])).toBe(3)
  expect(median([10, 9])).toBe(9.5)
})

test('the median leaves its input as it was', () => {
  const values = [3, 1, 2]
  median(values)
  expect(values).toEqual([3, 1, 2])
})
