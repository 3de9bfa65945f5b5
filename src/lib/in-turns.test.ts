// Long texts as bytes: the same bytes as in one go, whatever lies at the borders of a stretch.
import { expect, test } from 'bun:test'
import { jsonInTurns, utf8InTurns } from './in-turns.ts'

const stretch = 1024 * 1024
const texts = {
  'plain letters': 'abcdefgh'.repeat(400_000),
  'accented letters': 'é'.repeat(2_500_000),
  'Chinese letters': '你好'.repeat(1_200_000),
  'letters of two halves over the border': `a${'😀'.repeat(1_200_000)}`,
  'halves without the other': `${'x'.repeat(stretch - 1)}\ud83d${'y'.repeat(stretch)}\ude00`,
  'escapes over the border': `${'x'.repeat(stretch - 1)}"\\\n\u0001${'"'.repeat(stretch)}`,
}

test.each(Object.entries(texts))('%s are the bytes that one go makes', async (_, text) => {
  expect(Buffer.from(text).equals(await utf8InTurns(text))).toBe(true)
  const value = { before: [1, { [text]: true }], text, after: null }
  const json = await jsonInTurns(value)
  expect(typeof json).toBe('object')
  expect(Buffer.from(JSON.stringify(value)).equals(json as Uint8Array)).toBe(true)
})

test('JSON of any plain shape is what one go makes', async () => {
  const long = 'x'.repeat(300_000)
  for (const value of [
    { a: undefined, b: [undefined, null, 1.5, true, []], c: {}, d: [[{}], ''], long },
    [long, { 'a"b': '\u2028' }],
    { only: undefined, long },
  ]) {
    expect(Buffer.from((await jsonInTurns(value)) as Uint8Array).toString()).toBe(
      JSON.stringify(value),
    )
  }
  expect(await jsonInTurns({ short: 'text', none: undefined })).toBe('{"short":"text"}')
})
