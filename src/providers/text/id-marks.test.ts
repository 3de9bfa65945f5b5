// Suffixes on ids: wherever one is an id, nowhere else, and however the stream is split.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { IdMarks } from './id-marks.ts'

function marksFor(...ids: string[]): IdMarks {
  const marks = new IdMarks((id) => `_m${id.length}`)
  for (const id of ids) marks.learn(id)
  return marks
}

test.each<[string, string]>([
  ['{"id":"resp_1"}', '{"id":"resp_1_m6"}'],
  ['{"id" :\n "resp_1"}', '{"id" :\n "resp_1_m6"}'],
  ['{"item_id":"msg_22","delta":"x"}', '{"item_id":"msg_22_m6","delta":"x"}'],
  ['{"previous_response_id":"resp_1"}', '{"previous_response_id":"resp_1_m6"}'],
  [
    '{"id":"resp_1","output":[{"id":"msg_22"},{"id":"other"}]}',
    '{"id":"resp_1_m6","output":[{"id":"msg_22_m6"},{"id":"other"}]}',
  ],
  // Not an id, or not this one.
  ['{"text":"resp_1"}', '{"text":"resp_1"}'],
  ['{"my_id":"resp_1"}', '{"my_id":"resp_1"}'],
  ['["resp_1"]', '["resp_1"]'],
  ['{"id":"resp_11"}', '{"id":"resp_11"}'],
  ['{"delta":"{\\"id\\":\\"resp_1\\"}"}', '{"delta":"{\\"id\\":\\"resp_1\\"}"}'],
  ['"resp_1"', '"resp_1"'],
])('%s becomes %s', (text, marked) => {
  expect(marksFor('resp_1', 'msg_22').inText(text)).toBe(marked)
})

test('a text without known ids is the same buffer', () => {
  const bytes = Buffer.from('{"id":"resp_1","ü":"ü"}')
  expect(marksFor().inEvents(bytes)).toBe(bytes)
  expect(marksFor('resp_2').inEvents(bytes)).toBe(bytes)
  expect(marksFor('resp_1').inEvents(bytes).toString()).toBe('{"id":"resp_1_m6","ü":"ü"}')
})

test('items are learned where they stand, and not from what a text says', () => {
  const marks = marksFor()
  const bytes = Buffer.from('{"item_id" : "msg_1","delta":"\\"item_id\\":\\"msg_2\\""}')
  expect(marks.inEvents(bytes).toString()).toBe(bytes.toString().replace('msg_1', 'msg_1_m5'))
  expect(marks.inText('{"id":"msg_2"}')).toBe('{"id":"msg_2"}')
  for (const odd of ['"item_id"', '"item_id":', '"item_id":"', '"item_id":5', '"item_id":"a']) {
    expect(marks.inEvents(Buffer.from(odd)).toString()).toBe(odd)
  }
})

test('an item that is named later in the same read is marked before that, too', () => {
  const text = '{"id":"msg_1"}{"id":"msg_2"}{"item_id":"msg_1"}'
  const marked = '{"id":"msg_1_m5"}{"id":"msg_2"}{"item_id":"msg_1_m5"}'
  expect(marksFor().inEvents(Buffer.from(text)).toString()).toBe(marked)
})

test('of any events, exactly the ids in fields for ids are marked', () => {
  const ids = ['resp_1', 'msg_22', 'msg_2', 'rs-3.a']
  const field = fc.constantFrom('id', 'item_id', 'previous_response_id', 'call_id', 'text', 'ü')
  const gap = fc.constantFrom('', ' ', '\n\t')
  const text = fc.oneof(fc.constantFrom(...ids, ''), fc.string({ unit: 'grapheme' }))
  const value = fc.oneof(
    text,
    fc.integer(),
    fc.constant(null),
    text.map((id) => ({ id })),
  )
  const pair = fc.tuple(
    field,
    gap,
    gap,
    value.map((each) => JSON.stringify(each)),
  )
  fc.assert(
    fc.property(fc.array(pair), fc.subarray(ids), (pairs, known) => {
      const wire = pairs.map(([name, a, b, json]) => `"${name}"${a}:${b}${json}`).join(',')
      const items = pairs.flatMap(([name, , , json]) => (name === 'item_id' ? json : []))
      const mark = (learned: readonly string[]) =>
        wire.replaceAll(
          /("(?:id|item_id|previous_response_id)"\s*:\s*"([\w.:-]{1,256}))"/g,
          (all, before: string, id: string) =>
            learned.includes(id) ? `${before}_m${id.length}"` : all,
        )
      expect(marksFor(...known).inText(wire)).toBe(mark(known))
      const learned = [...known, ...items.map((json) => String(JSON.parse(json)))]
      expect(
        marksFor(...known)
          .inEvents(Buffer.from(wire))
          .toString(),
      ).toBe(mark(learned))
    }),
  )
})

test('what cannot be an id is not learned', () => {
  const marks = new IdMarks(() => '_m')
  for (const odd of [5, null, undefined, {}, '', 'a"b', 'a\\b', 'ü', 'x'.repeat(257)]) {
    marks.learn(odd)
  }
  expect(marks.inText('{"id":"","x":{"id":"a"}}')).toBe('{"id":"","x":{"id":"a"}}')
})
