// What is parsed in parts is what the parser makes of the whole, wherever it is cut; and what the parser
// refuses is refused.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseParts, partWork } from './parse-parts.ts'
import { JsonScan } from './scan.ts'

const work = { total: 1e12, structure: 1e12 }

function scanned(text: string, each?: number): JsonScan {
  const scan = new JsonScan(text, {
    depth: 64,
    work,
    ...(each !== undefined && { partWork: each }),
  })
  while (!scan.run());
  return scan
}

/** `each`: the work of a part; 1 cuts at every comma. */
function inParts(text: string, each: number): Promise<unknown> {
  const { problem, cuts } = scanned(text, each)
  expect(problem).toBeUndefined()
  return parseParts(text, cuts)
}

const spaces = fc.constantFrom('', ' ', '\n\t', '  \r\n')
const keys = fc.oneof(fc.constantFrom('a', '', '0', '17', 'a.b', '"', '\\', '\ud800'), fc.string())

/** JSON text with white space anywhere, in which no key stands twice. */
const texts = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc
      .oneof(fc.integer(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null), fc.string())
      .map((value) => JSON.stringify(value)),
    fc
      .tuple(fc.array(tie('value'), { maxLength: 6 }), spaces)
      .map(([items, space]) => `[${space}${items.join(`${space},${space}`)}${space}]`),
    fc
      .tuple(
        fc.uniqueArray(fc.tuple(keys, tie('value')), { selector: ([key]) => key, maxLength: 6 }),
        spaces,
      )
      .map(
        ([members, space]) =>
          `{${space}${members
            .map(([key, value]) => `${JSON.stringify(key)}${space}:${space}${value}`)
            .join(`${space},${space}`)}${space}}`,
      ),
  ),
})).value

const objects = fc
  .uniqueArray(fc.tuple(keys, texts), { selector: ([key]) => key, maxLength: 8 })
  .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`)
const eachWork = fc.constantFrom(1, 300, 1_000, 5_000)

test('any text, cut anywhere, is what the parser makes of the whole', async () => {
  await fc.assert(
    fc.asyncProperty(objects, eachWork, async (text, each) => {
      fc.pre(scanned(text, each).problem === undefined)
      expect(await inParts(text, each)).toStrictEqual(JSON.parse(text))
    }),
    { numRuns: 500 },
  )
})

test('keys stay in the order of the text', async () => {
  const text = '{"b":1,"a":{"y":1,"x":[1,{"d":1,"c":2}],"w":3},"9":1,"8":2}'
  expect(JSON.stringify(await inParts(text, 1))).toBe(JSON.stringify(JSON.parse(text)))
})

const parses = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('a text that is spoiled anywhere is refused if the parser refuses it, and else read as it reads it', async () => {
  const spoiled = fc
    .tuple(
      objects,
      fc.nat(),
      fc.constantFrom('', ',', '[', ']', '{', '}', ':', '"', '1', ' '),
      fc.boolean(),
    )
    .map(([text, place, letter, isReplaced]) => {
      const at = place % (text.length + 1)
      return text.slice(0, at) + letter + text.slice(isReplaced ? at + 1 : at)
    })
  await fc.assert(
    fc.asyncProperty(spoiled, eachWork, async (text, each) => {
      const { problem, cuts } = scanned(text, each)
      fc.pre(problem === undefined)
      if (parses(text)) expect(await parseParts(text, cuts)).toStrictEqual(JSON.parse(text))
      else await expect(parseParts(text, cuts)).rejects.toThrow(SyntaxError)
    }),
    { numRuns: 1_000 },
  )
})

describe('no JSON, cut at a comma, is not made JSON by what is opened and closed there', () => {
  test.each([
    '{"a":[1,]}',
    '{"a":[,1]}',
    '{"a":[1, \n ]}',
    '{"a":[ \t ,1]}',
    '{"a":1,}',
    '{,"a":1}',
    '{"a":1,,"b":2}',
    '{"a":[1,,2]}',
    '{"a":[1,2},"b":[1,2]}',
    '{"a":{"b":1,"c":2],"d":1}',
    '{[1,2],"a":1}',
    '{"a":[1,2',
    '{"a":[1,2],"b":1',
    '{"a":1},{"b":[1,2]}',
    '{"a":1}},"b":2}',
    '{"a":[1,2]],"b":2}',
    '{"a",1:2}',
    '{"a":1,2}',
    '{"a":[1,"b":2]}',
    '{"a":1,"b"}',
    '{"a":1,"b":}',
  ])('%s', async (text) => {
    expect(parses(text)).toBe(false)
    await expect(inParts(text, 1)).rejects.toThrow(SyntaxError)
  })
})

test('the work between two cuts is bounded, whatever the text has; short texts are parsed at once', async () => {
  const shapes = [
    `{"a":[${Array.from({ length: 300_000 }, (_, i) => i).join()}]}`,
    `{"a":[${Array.from({ length: 60_000 }, () => '{}').join()}]}`,
    `{${Array.from({ length: 14_000 }, (_, i) => `"key ${i}":1`).join()}}`,
    `{"a":[${Array.from({ length: 10_000 }, (_, i) => `{"role":"user","content":"${i}"}`).join()}]}`,
  ]
  for (const text of shapes) {
    const { cuts } = scanned(text)
    expect(cuts.length).toBeGreaterThanOrEqual(2)
    const ends = [...cuts.map(({ comma }) => comma), text.length]
    ends.reduce((from, to) => {
      // No part has twice the work that it may have.
      expect(scanned(text.slice(from, to), 2 * partWork).cuts).toEqual([])
      return to
    }, 0)
    expect(Bun.deepEquals(await parseParts(text, cuts), JSON.parse(text))).toBe(true)
  }
  expect(scanned('{"a":[1,2,3]}').cuts).toEqual([])
})
