// Periods in time zones: the borders that people know, and rules that hold for any moment and zone.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { isZone, type Per, periodAt } from './period.ts'

const at = (text: string) => Date.parse(text)
const shown = (moment: string, per: Per, zone: string) => {
  const { fromMs, untilMs } = periodAt(at(moment), per, zone)
  return [new Date(fromMs).toISOString(), new Date(untilMs).toISOString()]
}

test('a month begins at midnight in its zone, not in UTC', () => {
  const moment = '2026-10-31T18:30:00Z'
  expect(shown(moment, 'month', 'Asia/Kolkata')).toEqual([
    '2026-10-31T18:30:00.000Z',
    '2026-11-30T18:30:00.000Z',
  ])
  expect(shown(moment, 'month', 'Asia/Shanghai')).toEqual([
    '2026-10-31T16:00:00.000Z',
    '2026-11-30T16:00:00.000Z',
  ])
  // Summer time ends on the first of November.
  expect(shown(moment, 'month', 'America/New_York')).toEqual([
    '2026-10-01T04:00:00.000Z',
    '2026-11-01T04:00:00.000Z',
  ])
  expect(shown(moment, 'month', 'UTC')[1]).toBe('2026-11-01T00:00:00.000Z')
})

test('a day has 23 or 25 hours where clocks change, and begins late where midnight is skipped', () => {
  const hours = (moment: string, zone: string) => {
    const { fromMs, untilMs } = periodAt(at(moment), 'day', zone)
    return (untilMs - fromMs) / 3_600_000
  }
  expect(hours('2026-03-29T12:00:00Z', 'Europe/Berlin')).toBe(23)
  expect(hours('2026-10-25T12:00:00Z', 'Europe/Berlin')).toBe(25)
  // Clocks go from 00:00 to 01:00.
  expect(shown('2018-11-04T12:00:00Z', 'day', 'America/Sao_Paulo')).toEqual([
    '2018-11-04T03:00:00.000Z',
    '2018-11-05T02:00:00.000Z',
  ])
  // A date that the zone never had.
  expect(shown('2011-12-30T09:59:59Z', 'day', 'Pacific/Apia')[1]).toBe('2011-12-30T10:00:00.000Z')
})

test('a week begins on Monday', () => {
  expect(shown('2026-11-15T23:59:59Z', 'week', 'UTC')).toEqual([
    '2026-11-09T00:00:00.000Z',
    '2026-11-16T00:00:00.000Z',
  ])
  expect(shown('2026-11-15T23:59:59Z', 'week', 'Asia/Tokyo')[0]).toBe('2026-11-15T15:00:00.000Z')
  expect(shown('1969-12-31T12:00:00Z', 'week', 'UTC')[0]).toBe('1969-12-29T00:00:00.000Z')
})

test('any moment lies in one period, and periods follow each other without a gap', () => {
  const zones = [
    'UTC',
    'Asia/Kolkata',
    'Asia/Kathmandu',
    'America/New_York',
    'Europe/London',
    'Australia/Lord_Howe',
    'Africa/Cairo',
    'America/Havana',
    'Pacific/Kiritimati',
    'Pacific/Chatham',
  ]
  const seed = Number(process.env['TEST_SEED'] ?? 21)
  fc.assert(
    fc.property(
      fc.integer({ min: at('2015-01-01T00:00:00Z'), max: at('2040-01-01T00:00:00Z') }),
      fc.constantFrom<Per>('day', 'week', 'month'),
      fc.constantFrom(...zones),
      (ms, per, zone) => {
        const period = periodAt(ms, per, zone)
        expect(period.fromMs <= ms && ms < period.untilMs).toBe(true)
        expect(periodAt(period.fromMs, per, zone)).toEqual(period)
        expect(periodAt(period.untilMs - 1, per, zone)).toEqual(period)
        expect(periodAt(period.untilMs, per, zone).fromMs).toBe(period.untilMs)
        expect(periodAt(period.fromMs - 1, per, zone).untilMs).toBe(period.fromMs)
      },
    ),
    { numRuns: 300, seed },
  )
})

test('a total has no border, and only names are zones', () => {
  expect(periodAt(5, 'total', 'UTC')).toEqual({ fromMs: 0, untilMs: Number.POSITIVE_INFINITY })
  expect(['Asia/Shanghai', 'UTC', 'Etc/GMT+8'].every(isZone)).toBe(true)
  expect(['+08:00', 'Mars/Base', '', 'UTC; DROP'].some(isZone)).toBe(false)
})
