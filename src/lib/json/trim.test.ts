// What is kept of JSON that others wrote.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { trimmed } from './trim.ts'

test('small values are the same object', () => {
  for (const value of [{ a: 1, b: { c: [1, 'x', null] } }, [1, 2], 'x', 5, null, true, undefined]) {
    expect(trimmed(value)).toBe(value)
  }
})

test('long texts, many entries and great depth are cut', () => {
  expect(trimmed({ a: 'x'.repeat(1000) })).toEqual({ a: `${'x'.repeat(256)}…` })
  expect(trimmed(Array.from({ length: 1000 }, () => 1))).toHaveLength(64)
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, i]))
  expect(Object.keys(trimmed(many) as object)).toHaveLength(64)
  expect(trimmed({ ['k'.repeat(1000)]: 1, b: 2 })).toEqual({ b: 2 })
  let deep: unknown = 1
  for (let i = 0; i < 100_000; i++) deep = [deep]
  expect(JSON.stringify(trimmed({ deep }))).toBe('{"deep":[[[[["…"]]]]]}')
})

test('the rest stays as it is, whatever it is', () => {
  const small = fc.jsonValue({ maxDepth: 4, stringUnit: 'grapheme' })
  fc.assert(
    fc.property(small, (value) => {
      expect(JSON.stringify(trimmed(value)).length).toBeLessThanOrEqual(
        JSON.stringify(value).length + 4,
      )
    }),
  )
})
