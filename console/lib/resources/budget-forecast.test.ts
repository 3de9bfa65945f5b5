import { expect, test } from 'bun:test'
import { forecastOf } from './budget-forecast.ts'

const nowMs = Date.parse('2026-11-11T00:00:00Z')
const month = { per: 'month', resets_at: '2026-12-01T00:00:00Z' } as const

test('a budget lasts at the pace of its period, or is used up before it resets', () => {
  expect(forecastOf({ ...month, spent: '10', left: '5' }, nowMs)).toBe(5)
  expect(forecastOf({ ...month, spent: '10', left: '0' }, nowMs)).toBe(0)
  expect(forecastOf({ ...month, spent: '10', left: '-1' }, nowMs)).toBe(0)
  expect(forecastOf({ ...month, spent: '10', left: '20' }, nowMs)).toBe('lasts')
  const week = { per: 'week', resets_at: '2026-11-16T00:00:00Z' } as const
  expect(forecastOf({ ...week, spent: '2', left: '2' }, nowMs)).toBe(2)
})

test('a month begins as many days before its end as it has, also where its zone is not UTC', () => {
  const oslo = { per: 'month', resets_at: '2026-11-30T23:00:00Z' } as const
  expect(forecastOf({ ...oslo, spent: '10', left: '9.9' }, nowMs)).toBe(9)
  const march = { per: 'month', resets_at: '2027-02-28T16:00:00Z' } as const
  const day = Date.parse('2027-02-07T16:00:00Z')
  expect(forecastOf({ ...march, spent: '7', left: '7' }, day)).toBe(7)
})

test('nothing is said of a budget that was not used, has just begun or never resets', () => {
  expect(forecastOf({ ...month, spent: '0', left: '5' }, nowMs)).toBeUndefined()
  const begun = Date.parse('2026-11-01T00:10:00Z')
  expect(forecastOf({ ...month, spent: '1', left: '5' }, begun)).toBeUndefined()
  const total = { per: 'total', resets_at: null, spent: '1', left: '5' } as const
  expect(forecastOf(total, nowMs)).toBeUndefined()
})
