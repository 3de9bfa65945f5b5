// A text looked through before it is parsed: the same is found however often the look is interrupted.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { JsonScan, type ScanProblem, scanShort, type WorkLimits } from './scan.ts'

const ample: WorkLimits = { total: 40e6, structure: 30e6 }

/** In one go, and in slices of a few steps. */
function scanned(text: string, depth = 64, work = ample): ScanProblem | undefined {
  const short = scanShort(text, depth)
  for (const steps of [1, 3, 1_000_000]) {
    const scan = new JsonScan(text, { depth, work })
    for (let turns = 0; !scan.run(steps); turns++) expect(turns).toBeLessThan(10_000)
    expect(scan.problem).toEqual(short)
  }
  return short
}

const twice = (path: string) => ({ kind: 'key_twice', path }) as const

describe('a key that is given twice', () => {
  test.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"\\u0061":1,"a":2}', 'a'],
    ['{"a":{"b":[0,{"c":1,"d":{},"c":2}]}}', 'a.b[1].c'],
    ['[{"a":1},{"a":1,"b":[],"a":1}]', '[1].a'],
    ['{ "a" : "x\\"" , "b" : "{\\"a\\":1}" , "a" : 1 }', 'a'],
    [`{${Array.from({ length: 40 }, (_, i) => `"k${i}":1`).join(',')},"k7":1}`, 'k7'],
    ['{"":1,"":2}', ''],
  ])('%s is found where it is', (text, path) => {
    expect(scanned(text)).toEqual(twice(path))
  })

  test.each([
    '{"a":"a","b":"a"}',
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":1}]',
    '{"a":1,"A":2,"á":3}',
    '{"a":"\\\\","b":"\\"a\\":1"}',
    '{"a":["b","b"],"b":["a","a"]}',
    '{}',
    '"a"',
    '',
  ])('%s has none', (text) => {
    expect(scanned(text)).toBeUndefined()
  })
})

test('any value that was written as JSON has no key twice', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const text = JSON.stringify(value, undefined, 1)
      if (text.includes('__proto__') || text.includes('prototype')) return
      expect(scanned(text)).toBeUndefined()
    }),
    { numRuns: 300 },
  )
})

test('a key that is written again is found in any object', () => {
  const key = fc.string({ maxLength: 6 }).filter((each) => each !== '__proto__')
  const anyObject = fc.dictionary(key, fc.jsonValue({ maxDepth: 2 }), { minKeys: 1, maxKeys: 30 })
  fc.assert(
    fc.property(anyObject, fc.nat(), (object, at) => {
      const names = Object.keys(object)
      const again = names[at % names.length]!
      const text = `${JSON.stringify(object).slice(0, -1)},${JSON.stringify(again)}:1}`
      // Keys of prototypes are refused for what they are.
      fc.pre(!text.includes('proto'))
      expect(scanned(text)).toEqual(twice(again))
    }),
    { numRuns: 300 },
  )
})

test('depth counts brackets outside of strings only', () => {
  expect(scanned('[[["[[[["]]]', 3)).toBeUndefined()
  expect(scanned('[[[["[[[["]]]]', 3)).toEqual({ kind: 'too_deep' })
  expect(scanned('{"a":{"b":{"c":{}}}}', 3)).toEqual({ kind: 'too_deep' })
})

test.each([
  '{"__proto__":1}',
  '{"a":{"__pr\\u006fto__":1}}',
  '{"constructor":{"prototype":1}}',
  '{"constructor":{"a":1,"prototyp\\u0065":1}}',
])('%s has a key of prototypes', (text) => {
  expect(scanned(text)).toEqual({ kind: 'prototype_key' })
})

test('a prototype that belongs to no constructor is a word like any other', () => {
  expect(scanned('{"prototype":{"constructor":["prototype"]}}')).toBeUndefined()
})

describe('work', () => {
  const small: WorkLimits = { total: 40_000, structure: 20_000 }
  const problemOf = (text: string) => {
    const scan = new JsonScan(text, { depth: 64, work: small })
    while (!scan.run(1_000));
    return scan.problem?.kind
  }
  const filled = (piece: string, times: number) => `{"a":[${piece.repeat(times)}0]}`
  test.each([
    ['objects', filled('{},', 100)],
    ['lists', filled('[],', 100)],
    ['numbers', filled('1,', 1_000)],
    ['white space', `{"a":${' '.repeat(10_000)}1}`],
    ['new keys', `{${Array.from({ length: 30 }, (_, i) => `"k${i}":1`).join(',')}}`],
    ['escapes', `{"a":"${'\\"'.repeat(4_000)}"}`],
    ['a long text', `{"a":"${'x'.repeat(50_000)}"}`],
  ])('of %s is bounded', (_, text) => {
    expect(problemOf(text)).toBe('too_much_work')
  })

  test.each([
    ['a text', `{"a":"${'x'.repeat(40_000)}"}`],
    ['lines', `{"a":"${'some line of code\\n'.repeat(400)}"}`],
    ['the same words', filled('"user",', 300)],
  ])('of %s is little', (_, text) => {
    expect(problemOf(text)).toBeUndefined()
  })
})
