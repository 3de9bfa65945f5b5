// The size of an input: a rough count, text by its length and media flat, and what bounds it.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { InputCounter, templateTokens } from './count-input.ts'
import { anyJson } from './test-parsing.ts'

const counter = () => new InputCounter(['function', undefined])
const countContent = (content: unknown) => counter().content(content).tokens
const countMessages = (messages: readonly unknown[]) => counter().messages(messages).tokens
const countTools = (tools: unknown) => counter().tools(tools).tokens

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
    for (const nothing of [undefined, null, 5, true]) expect(countContent(nothing)).toBe(0)
    expect([countTools(undefined), countTools(null), countMessages([])]).toEqual([0, 0, 0])
  })
})

test('anything at all has a size that is whole and not negative', () => {
  const sound = (size: number) => Number.isSafeInteger(size) && size >= 0
  fc.assert(
    fc.property(anyJson, (value) => {
      expect(sound(countContent(value))).toBe(true)
      expect(sound(countTools(value))).toBe(true)
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

describe('the bound of an input', () => {
  const { perCall, perMessage, perImage, withTools } = templateTokens
  const boundOf = (content: unknown, more: object = {}) => {
    const messages = [{ role: 'user', content }]
    const body = JSON.stringify({ messages, ...more })
    const bound = counter()
      .messages(messages)
      .tools('tools' in more ? more.tools : null)
    return { ...bound.bound(body), bytes: Buffer.byteLength(body) }
  }

  test('is every byte of the body, whichever field it stands in, and the template', () => {
    for (const text of ['four', '你好', '😀'.repeat(50), '\u0000']) {
      const { bytes, ...bound } = boundOf(text, { response_format: { schema: text } })
      const maxTextTokens = bytes + perCall + perMessage
      expect(bound).toEqual({ maxTextTokens, images: 0, isOpen: false, inputs: 1 })
    }
    const { bytes, maxTextTokens } = boundOf('x', { tools: [{ type: 'function' }] })
    expect(maxTextTokens).toBe(bytes + perCall + perMessage + withTools)
  })

  test.each<[string, Record<string, unknown>, number]>([
    ['chat, inline', { type: 'image_url', image_url: { url } }, url.length],
    ['chat, by address', { type: 'image_url', image_url: { url: 'https://a.example/b' } }, 0],
    ['responses, inline', { type: 'input_image', image_url: url }, url.length],
    [
      'messages, inline',
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } },
      base64.length,
    ],
    [
      'messages, by address',
      { type: 'image', source: { type: 'url', url: 'https://a.example' } },
      0,
    ],
  ])('counts an image (%s) by its number, not by its bytes', (_, part, inline) => {
    const nested = { type: 'tool_result', content: [part] }
    for (const content of [[part], [nested]]) {
      const { bytes, ...bound } = boundOf(content)
      const maxTextTokens = bytes - inline + perCall + perMessage + perImage
      expect(bound).toEqual({ maxTextTokens, images: 1, isOpen: false, inputs: 1 })
    }
  })

  test.each<[string, Record<string, unknown>]>([
    ['a video by address', { type: 'video_url', video_url: { url: 'https://a.example/v' } }],
    ['a video without a type', { video: 'https://a.example/v' }],
    ['sound', { type: 'input_audio', input_audio: { data: base64 } }],
    ['a file by address', { type: 'input_file', file_url: 'https://a.example/f' }],
    ['a file that came along', { type: 'file', file: { file_data: url } }],
    ['a document', { type: 'document', source: { type: 'url', url: 'https://a.example' } }],
    [
      'a page as an image',
      { type: 'image_url', image_url: { url: 'data:application/pdf;base64,A' } },
    ],
    ['an address of another kind', { type: 'image_url', image_url: { url: 'oss://a/b' } }],
    ['something unheard of', { type: 'hologram', data: 'x' }],
  ])('is open because of %s', (_, part) => {
    expect(boundOf([part]).isOpen).toBe(true)
    expect(boundOf([{ type: 'tool_result', content: [part] }]).isOpen).toBe(true)
    expect(boundOf([{ type: 'text', text: 'x' }]).isOpen).toBe(false)
  })

  test('is open because of an item whose size only the upstream knows', () => {
    const boundOfItem = (item: object) => counter().messages([item]).bound('{}').isOpen
    expect(boundOfItem({ type: 'file_search_call', id: 'x' })).toBe(true)
    expect(boundOfItem({ type: 'function_call_output', output: 'x' })).toBe(false)
  })
})

describe('what may not be asked for', () => {
  test.each<[string, unknown]>([
    ['in a part', [{ type: 'input_file', file_id: 'file-1' }]],
    ['one level down', [{ type: 'file', file: { file_id: 'file-1' } }]],
    ['as an image', [{ type: 'input_image', file_id: 'file-1' }]],
    ['as a source', [{ type: 'document', source: { type: 'file', file_id: 'file-1' } }]],
    [
      'in a result',
      [{ type: 'tool_result', content: [{ type: 'container_upload', file_id: 'f' }] }],
    ],
    ['in an unheard-of place', [{ type: 'x', a: [{ b: { file_ids: ['f'] } }] }]],
    ['in words', 'fileid://file-fe-1'],
  ])('is a file kept upstream, %s', (_, content) => {
    const { problem } = counter().messages([{ role: 'user', content }])
    expect([problem?.code, problem?.extras.param]).toEqual(['not_found', 'file_id'])
  })

  test('is not the word in what a tool takes or is given', () => {
    const use = { type: 'tool_use', input: { file_id: 'mine' } }
    const parameters = { properties: { file_id: { type: 'string' } } }
    const counted = counter()
      .messages([{ role: 'assistant', content: [use] }])
      .tools([{ type: 'function', function: { name: 'f', parameters } }])
    expect(counted.problem).toBeUndefined()
  })
})
