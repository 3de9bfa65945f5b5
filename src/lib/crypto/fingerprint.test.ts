// Equal values have equal fingerprints, and nothing else has.
import { expect, test } from 'bun:test'
import { fingerprintOf } from './fingerprint.ts'

test('the order of keys and absent values do not matter', async () => {
  const one = await fingerprintOf({ a: 1, b: { c: [true, null], d: 'x' } })
  expect(one).toMatch(/^[0-9a-f]{64}$/)
  expect(await fingerprintOf({ b: { d: 'x', c: [true, null], e: undefined }, a: 1 })).toBe(one)
})

test('values that differ in anything else have fingerprints of their own', async () => {
  const values: unknown[] = [
    ...['', 'a', 'ab', '1', 'null', 's1:a', '\u{1F408}'],
    ...[0, 1, 1.5, 12, true, false, null],
    ...[[], [[]], [1, 2], [2, 1], ['1', '2'], ['12'], ['a', ''], ['', 'a'], [null]],
    ...[{}, { a: 1 }, { a: '1' }, { a: null }, { a: [] }, { a: {} }, { a: { b: 1 } }],
    ...[{ a: 1, b: 2 }, { a: 2, b: 1 }, { ab: 1 }, ['a', 1], [{ a: 1 }, { b: 2 }]],
  ]
  const prints = await Promise.all(values.map(fingerprintOf))
  const seen = new Map(values.map((value, index) => [prints[index], JSON.stringify(value)]))
  expect([...seen.values()]).toEqual(values.map((value) => JSON.stringify(value)))
})

test('a text longer than a piece counts to its last letter', async () => {
  const long = 'x'.repeat(200_000)
  expect(await fingerprintOf({ long })).toBe(await fingerprintOf({ long: 'x'.repeat(200_000) }))
  const last = (letter: string) => fingerprintOf({ long: `${long}${letter}` })
  expect(await last('y')).not.toBe(await last('z'))
})

test('a text that takes several turns is hashed as one, whole letters at the borders', async () => {
  const cat = '\u{1F408}'
  const text = `x${cat.repeat(2_500_000)}`
  const whole = new Bun.CryptoHasher('sha256').update(`s${text.length}:${text}`).digest('hex')
  expect(await fingerprintOf(text)).toBe(whole)
})
