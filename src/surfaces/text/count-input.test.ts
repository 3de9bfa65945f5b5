// The rough size of an input: text by its length, media flat, never nonsense.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { countContent, countJson, countMessages } from './count-input.ts'
import { anyJson } from './test-parsing.ts'

const flat = 2_048
const base64 = 'A'.repeat(4_000_000)
const url = `data:image/png;base64,${base64}`

describe('media', () => {
  test.each<[string, Record<string, unknown>]>([
    ['an image of chat', { type: 'image_url', image_url: { url } }],
    ['sound', { type: 'input_audio', input_audio: { data: base64, format: 'wav' } }],
    ['a file', { type: 'file', file: { file_data: url } }],
    ['a video', { type: 'video_url', video_url: { url } }],
    ['an image of responses', { type: 'input_image', image_url: url }],
    ['a file of responses', { type: 'input_file', file_data: url }],
    ['an image of messages', { type: 'image', source: { type: 'base64', data: base64 } }],
    ['a document', { type: 'document', source: { type: 'base64', data: base64 } }],
    ['something without a type', { data: base64 }],
  ])('such as %s costs the same whatever its bytes are', (_, part) => {
    expect(countContent([part])).toBe(flat)
    expect(countMessages([{ role: 'user', content: [part] }])).toBe(8 + flat)
    const result = { type: 'tool_result', content: [part, { type: 'text', text: 'four' }] }
    expect(countContent([result])).toBe(flat + 1)
  })

  test('in the output of a tool costs the same too', () => {
    const shot = { type: 'computer_screenshot', image_url: url }
    expect(countMessages([{ type: 'computer_call_output', output: shot }])).toBe(8 + flat)
    const image = { type: 'input_image', image_url: url }
    expect(countMessages([{ type: 'function_call_output', output: [image] }])).toBe(8 + flat)
    expect(countMessages([{ type: 'image_generation_call', result: base64 }])).toBe(8)
  })
})

describe('text', () => {
  test('costs a quarter of its Latin letters and all of its wide ones', () => {
    expect(countContent('four')).toBe(1)
    expect(countContent('fours')).toBe(2)
    expect(countContent('你好')).toBe(2)
    expect(countContent(['four', { type: 'text', text: '你好' }])).toBe(3)
  })

  test('counts wherever the styles put it', () => {
    expect(countContent([{ type: 'thinking', thinking: 'four', signature: base64 }])).toBe(1)
    expect(countContent([{ type: 'tool_use', input: { a: 1 } }])).toBe(2)
    const calls = [{ function: { name: 'f', arguments: '{}' } }]
    const message = { role: 'assistant', content: null, tool_calls: calls }
    expect(countMessages([message])).toBe(8 + Math.ceil(JSON.stringify(calls).length / 4))
    expect(countMessages(['four', 5, null])).toBe(3 * 8 + 1)
  })

  test('is not what nothing is', () => {
    for (const nothing of [undefined, null, 5, true, {}]) expect(countContent(nothing)).toBe(0)
    expect([countJson(undefined), countJson(null), countMessages([])]).toEqual([0, 0, 0])
  })
})

test('anything at all has a size that is whole and not negative', () => {
  const sound = (size: number) => Number.isSafeInteger(size) && size >= 0
  fc.assert(
    fc.property(anyJson, (value) => {
      expect(sound(countContent(value))).toBe(true)
      expect(sound(countJson(value))).toBe(true)
      expect(sound(countMessages(Array.isArray(value) ? value : [value]))).toBe(true)
    }),
    { numRuns: 1_000 },
  )
})

test('more text is never counted as less', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
      expect(countContent(a + b)).toBeGreaterThanOrEqual(countContent(a))
    }),
  )
})
