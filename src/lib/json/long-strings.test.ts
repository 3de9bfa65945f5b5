// Long strings are read as the parser would read them, wherever a stretch ends.
import { expect, test } from 'bun:test'
import { type LongString, longString, parseShortened, shorten } from './long-strings.ts'
import { JsonScan } from './scan.ts'

const stretch = 1024 * 1024

async function parsed(text: string, partWork?: number): Promise<unknown> {
  const { long, cuts } = scanned(text, partWork)
  return parseShortened(text, shorten(text, long, false, cuts))
}

const stringsIn = (text: string): readonly LongString[] => scanned(text).long

function scanned(text: string, partWork?: number): JsonScan {
  const work = { total: 1e12, structure: 1e12 }
  const scan = new JsonScan(text, {
    depth: 64,
    work,
    ...(partWork !== undefined && { partWork }),
  })
  while (!scan.run());
  expect(scan.problem).toBeUndefined()
  return scan
}

const spelled: [string, string][] = [
  ['plain letters', 'a'.repeat(3 * stretch)],
  ['wide letters', `你${'a'.repeat(2 * stretch)}`],
  ['letters of two halves', `a${'😀'.repeat(stretch)}`],
  ['the mark of another request', `long:x:0${'a'.repeat(stretch)}`],
  ...Array.from({ length: 8 }, (_, by): [string, string] => [
    `escapes, ${by} letters before the end of a stretch`,
    `${'a'.repeat(stretch - by)}\\u4f60\\n\\\\\\\\\\"\\ud83d\\ude00\\\\u0041${'b'.repeat(stretch)}`,
  ]),
  ['nothing but escapes', '\\\\'.repeat(stretch)],
  ['nothing but escapes, shifted', `a${'\\"'.repeat(stretch)}`],
]

test.each(spelled)('%s', async (_, letters) => {
  const text = `{"a":[1,{"b":"${letters}"},"short","long:0"],"c":"${letters}","d":null}`
  expect(stringsIn(text)).toHaveLength(2)
  // Comparing by equality alone: a message with all of it would take minutes.
  const value = JSON.parse(text)
  expect(Bun.deepEquals(await parsed(text), value)).toBe(true)
  // Cut at every comma: what is cut is the text without its long strings.
  expect(Bun.deepEquals(await parsed(text, 1), value)).toBe(true)
})

test('what the parser refuses is refused', async () => {
  const long = 'a'.repeat(longString + 1)
  for (const bad of [`${long}\n`, `\u0001${long}`, `${long}\\x`, `${long}\\u12g4`]) {
    const text = `{"a":"${bad}"}`
    expect(() => JSON.parse(text)).toThrow()
    await expect(parsed(text)).rejects.toThrow()
  }
  const broken = `{"a":"${long}",}`
  await expect(parsed(broken)).rejects.toThrow()
})

test('long keys and short strings are left to the parser', async () => {
  const text = `{"${'k'.repeat(longString + 1)}":"v","s":"${'s'.repeat(longString)}"}`
  expect(stringsIn(text)).toEqual([])
  expect(Bun.deepEquals(await parsed(text), JSON.parse(text))).toBe(true)
})
