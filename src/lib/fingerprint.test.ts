// Equal values have equal fingerprints, and nothing else has.
import { expect, test } from 'bun:test'
import { fingerprintOf } from './fingerprint.ts'

test('the order of keys and absent values do not matter', () => {
  const one = fingerprintOf({ a: 1, b: { c: [true, null], d: 'x' } })
  expect(one).toMatch(/^[0-9a-f]{64}$/)
  expect(fingerprintOf({ b: { d: 'x', c: [true, null], e: undefined }, a: 1 })).toBe(one)
})

test('values that differ in anything else have fingerprints of their own', () => {
  const values: unknown[] = [
    ...['', 'a', 'ab', '1', 'null', 's1:a', '\u{1F408}'],
    ...[0, 1, 1.5, 12, true, false, null],
    ...[[], [[]], [1, 2], [2, 1], ['1', '2'], ['12'], ['a', ''], ['', 'a'], [null]],
    ...[{}, { a: 1 }, { a: '1' }, { a: null }, { a: [] }, { a: {} }, { a: { b: 1 } }],
    ...[{ a: 1, b: 2 }, { a: 2, b: 1 }, { ab: 1 }, ['a', 1], [{ a: 1 }, { b: 2 }]],
  ]
  const seen = new Map(values.map((value) => [fingerprintOf(value), JSON.stringify(value)]))
  expect([...seen.values()]).toEqual(values.map((value) => JSON.stringify(value)))
})

test('a text longer than a piece counts to its last letter', () => {
  const long = 'x'.repeat(200_000)
  expect(fingerprintOf({ long })).toBe(fingerprintOf({ long: 'x'.repeat(200_000) }))
  expect(fingerprintOf({ long: `${long}y` })).not.toBe(fingerprintOf({ long: `${long}z` }))
})
