import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseJson } from './parse.ts'

const parsed = (text: string, depth = 64) => parseJson(text, depth)

test('any JSON value comes back as JSON.parse would give it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const text = JSON.stringify(value)
      if (/__proto__|prototype/.test(text)) return
      expect(parsed(text)).toEqual({ value: JSON.parse(text) })
    }),
  )
})

test('nesting is refused one level above the limit, not at it', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  expect(parsed(nested(64))).toHaveProperty('value')
  expect(parsed(nested(65))).toHaveProperty('problem')
  expect(parsed(nested(5_000_000))).toHaveProperty('problem')
})

test('many brackets side by side or inside strings are not deep', () => {
  expect(parsed(`[${'{},'.repeat(500)}{}]`)).toHaveProperty('value')
  expect(parsed(JSON.stringify({ text: '[{"\\'.repeat(500) }))).toHaveProperty('value')
})

test('prototype keys are refused however they are spelled', () => {
  for (const text of [
    '{"__proto__":{"admin":true}}',
    '{"a":[{"__proto__":1}]}',
    '{"\\u005f_proto__":1}',
    '{"protocol":"\\u0041","\\u005f_proto__":1}',
    '{"constructor":{"prototype":{"x":1}}}',
  ]) {
    expect(parsed(text)).toHaveProperty('problem')
  }
})

test('talking about prototypes in a prompt is fine', () => {
  expect(
    parsed('{"content":"what is \\"__proto__\\": and constructor.prototype?"}'),
  ).toHaveProperty('value')
})

test('broken JSON names the problem', () => {
  expect(parsed('{"a":')).toMatchObject({ problem: expect.stringContaining('not valid JSON') })
})
