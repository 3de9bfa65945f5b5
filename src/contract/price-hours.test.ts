import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { PriceHours } from './price.ts'
import { hoursAt, hoursName } from './price-hours.ts'

const rule = (more: Partial<PriceHours>): PriceHours => ({
  fromMinute: 30,
  toMinute: 510,
  zone: 'UTC',
  factorNanos: 500_000_000n,
  ...more,
})

const isIn = (hours: PriceHours, at: string): boolean =>
  hoursAt({ unit: 'default', hours: [hours] }, Date.parse(at)) === 0

test.each<[string, Partial<PriceHours>, string, boolean]>([
  ['at its start', {}, '2026-11-18T00:30:00Z', true],
  ['a moment before', {}, '2026-11-18T00:29:59.999Z', false],
  ['in its last moment', {}, '2026-11-18T08:29:59.999Z', true],
  ['at its end', {}, '2026-11-18T08:30:00Z', false],
  ['in another zone', { zone: 'Asia/Shanghai' }, '2026-11-17T16:30:00Z', true],
  ['before it there', { zone: 'Asia/Shanghai' }, '2026-11-17T16:29:00Z', false],
  ['on its day', { days: ['wed'] }, '2026-11-18T01:00:00Z', true],
  ['on another day', { days: ['tue'] }, '2026-11-18T01:00:00Z', false],
  ['on its day there', { days: ['wed'], zone: 'Asia/Shanghai' }, '2026-11-17T17:00:00Z', true],
  ['on an exception', { except: ['2026-11-18'] }, '2026-11-18T01:00:00Z', false],
  [
    'past midnight, the evening',
    { fromMinute: 1_320, toMinute: 120, days: ['mon'] },
    '2026-11-16T23:00:00Z',
    true,
  ],
  [
    'past midnight, of its day',
    { fromMinute: 1_320, toMinute: 120, days: ['mon'] },
    '2026-11-17T01:59:00Z',
    true,
  ],
  [
    'past midnight, of another',
    { fromMinute: 1_320, toMinute: 120, days: ['tue'] },
    '2026-11-17T01:59:00Z',
    false,
  ],
  [
    'past midnight, of an exception',
    { fromMinute: 1_320, toMinute: 120, except: ['2026-11-16'] },
    '2026-11-17T01:59:00Z',
    false,
  ],
  [
    'a whole day, before its start',
    { fromMinute: 480, toMinute: 480, days: ['mon'] },
    '2026-11-17T07:59:00Z',
    true,
  ],
  [
    'a whole day, after it',
    { fromMinute: 480, toMinute: 480, days: ['mon'] },
    '2026-11-17T08:00:00Z',
    false,
  ],
  // Clocks go forward at 02:00 and back at 03:00, so that 02:30 is never, and twice.
  [
    'in an hour that is skipped',
    { fromMinute: 120, toMinute: 180, zone: 'Europe/Berlin' },
    '2026-03-29T01:00:00Z',
    false,
  ],
  [
    'in an hour that comes first',
    { fromMinute: 120, toMinute: 180, zone: 'Europe/Berlin' },
    '2026-10-25T00:30:00Z',
    true,
  ],
  [
    'and in the same hour again',
    { fromMinute: 120, toMinute: 180, zone: 'Europe/Berlin' },
    '2026-10-25T01:30:00Z',
    true,
  ],
])('%s', (_, more, at, expected) => {
  expect(isIn(rule(more), at)).toBe(expected)
})

test('the first that fits applies', () => {
  const hours = [rule({ fromMinute: 60, toMinute: 120 }), rule({})]
  const at = (text: string) => hoursAt({ unit: 'default', hours }, Date.parse(text))
  expect([
    at('2026-11-18T00:40:00Z'),
    at('2026-11-18T01:00:00Z'),
    at('2026-11-18T09:00:00Z'),
  ]).toEqual([1, 0, undefined])
  expect(hoursName(hours[0]!)).toBe('01:00-02:00 UTC')
})

test('a rule and its complement cover each moment once', () => {
  const minute = fc.integer({ min: 0, max: 1_439 })
  const zone = fc.constantFrom('UTC', 'Asia/Shanghai', 'America/St_Johns', 'Pacific/Apia')
  const atMs = fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 })
  fc.assert(
    fc.property(minute, minute, zone, atMs, (from, to, where, ms) => {
      fc.pre(from !== to)
      const one = rule({ fromMinute: from, toMinute: to, zone: where })
      const other = rule({ fromMinute: to, toMinute: from, zone: where })
      const at = new Date(ms).toISOString()
      expect(isIn(one, at)).toBe(!isIn(other, at))
    }),
  )
})
