import { expect, test } from 'bun:test'
import { monthAt, monthBounds, monthPlus } from './month.ts'

test('a month is from its first moment to that of the next, by UTC', () => {
  expect(monthBounds('2026-11')).toEqual({
    fromMs: Date.UTC(2026, 10, 1),
    untilMs: Date.UTC(2026, 11, 1),
  })
  expect(monthBounds('2026-12')?.untilMs).toBe(Date.UTC(2027, 0, 1))
})

test.each([
  '2026-13',
  '2026-00',
  '2026-1',
  '1999-01',
  '0001-01',
  'now',
  '',
  '2026-11-01',
  ' 2026-11',
])('%j is no month', (text) => {
  expect(monthBounds(text)).toBeUndefined()
})

test('the last moment of a month is still of it', () => {
  expect(monthAt(Date.UTC(2026, 11, 1) - 1)).toBe('2026-11')
  expect(monthAt(Date.UTC(2026, 11, 1))).toBe('2026-12')
})

test('months are counted over the turn of a year', () => {
  expect([monthPlus('2026-12', 1), monthPlus('2026-01', -1), monthPlus('2026-03', -15)]).toEqual([
    '2027-01',
    '2025-12',
    '2024-12',
  ])
})
