// Outlines of JSON: equal to the value where that is small, and small where it is not.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { JsonOutline, outlineOf } from './outline.ts'

test('a small value is its own outline, however it is written and cut', () => {
  const value = fc.jsonValue({ maxDepth: 6 })
  fc.assert(
    fc.property(value, fc.nat(4), fc.array(fc.nat(200)), (given, spaces, places) => {
      const bytes = Buffer.from(JSON.stringify({ given }, null, spaces))
      const outline = new JsonOutline()
      const cuts = [...places.filter((at) => at < bytes.length), 0, bytes.length].sort(
        (a, b) => a - b,
      )
      for (let i = 1; i < cuts.length; i++) outline.take(bytes, cuts[i - 1], cuts[i])
      expect(outline.isWhole).toBe(true)
      expect(JSON.parse(outline.text)).toEqual(JSON.parse(bytes.toString()))
    }),
  )
})

describe('the outline', () => {
  test('of a deep value ends somewhere', () => {
    const deep = `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)},"usage":{"n":1}}`
    expect(outlineOf(deep)).toMatchObject({ usage: { n: 1 } })
  })

  test('of long texts and lists keeps what stands behind them', () => {
    const list = Array.from({ length: 100_000 }, (_, i) => ({ i, text: 'a "quoted" word' }))
    const given = { text: '"\\'.repeat(50_000), list, nested: { list }, usage: { n: 1 } }
    const outline = outlineOf(JSON.stringify(given)) as Record<string, unknown>
    expect(outline).toMatchObject({ text: '', usage: { n: 1 } })
    expect(outline['list']).toEqual(list.slice(0, 64))
    expect(JSON.stringify(outline).length).toBeLessThan(20_000)
  })

  test('of many large values stays small', () => {
    const wide = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, i) => [`k${i}`, [[['x'.repeat(4_000)]]]]),
    )
    const text = JSON.stringify({ a: { b: wide }, usage: { n: 1 } })
    expect(outlineOf(text)).toMatchObject({ usage: { n: 1 } })
    expect(JSON.stringify(outlineOf(text)).length).toBeLessThan(1_000_000)
  })

  test.each(['', '{', '{"a":1', '{"a":"b', 'no json', '{"a" 1}'])(
    'of %j, which is no JSON, is none',
    (text) => {
      expect(outlineOf(text)).toBeUndefined()
    },
  )
})
