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

const byAddress = { type: 'document', source: { type: 'url', url: 'https://a.example' } }
const plainSource = { type: 'text', media_type: 'text/plain', data: 'x' }

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
    ['an image that is no address', { type: 'image_url', image_url: { url: 'a/b' } }],
    ['text that hides an address', { type: 'text', text: 'x', url: 'https://a.example' }],
    ['a result that hides one', { type: 'tool_result', text: 'x', content: [byAddress] }],
    ['thinking that hides one', { type: 'thinking', thinking: 'x', content: [byAddress] }],
    ['a text document with one', { type: 'document', source: { ...plainSource, url: 'ftp://a' } }],
    ['something of any name with one', { type: 'text', text: 'x', more: [{ at: 'https://a' }] }],
    ['text with a video', { type: 'text', text: 'x', video_url: { url: 'https://a.example/v' } }],
    ['text with an image', { type: 'text', text: 'x', image_url: { url: 'https://a.example/v' } }],
    ['text with sound', { type: 'text', text: 'x', input_audio: { data: 'AAAA' } }],
    ['a result with its output', { type: 'tool_result', text: 'x', output: [byAddress] }],
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

const fileBlock = { type: 'container_upload', file_id: 'f' }
const imageAt = { image_url: 'https://a.example/b.png' }

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
    ['in words after a blank', ' \t\u00a0FileID://file-fe-1'],
    ['in a text document', [{ type: 'document', source: { ...plainSource, file_id: 'f' } }]],
    ['beside a text document', [{ type: 'document', source: plainSource, file_id: 'f' }]],
    ['beside a text', [{ type: 'text', text: 'x', file_id: 'f' }]],
    ['in a file beside a text', [{ type: 'text', text: 'x', file: { file_id: 'f' } }]],
    ['beside the text of a result', [{ type: 'tool_result', text: 'x', content: [fileBlock] }]],
    ['beside thinking in a result', [{ type: 'tool_result', thinking: 'x', content: [fileBlock] }]],
    ['in a result without a type', [{ text: 'x', content: [fileBlock] }]],
    ['in the output of a text', [{ type: 'text', text: 'x', output: [fileBlock] }]],
    ['in an image with an address', [{ type: 'image', ...imageAt, source: { file_id: 'f' } }]],
    ['in the address of an image', [{ type: 'image_url', image_url: { url: 'x', file_id: 'f' } }]],
    ['in a citation', [{ type: 'output_text', text: 'x', annotations: [{ file_id: 'f' }] }]],
    ['in another case', [{ type: 'text', text: 'x', more: { File_ID: 'f' } }]],
    ['with other letters', [{ type: 'text', text: 'x', more: { ｆile_id: 'f' } }]],
    ['in camel case', [{ type: 'text', text: 'x', more: { fileId: 'f' } }]],
    ['as a container', [{ type: 'text', text: 'x', container_id: 'c' }]],
    ['as a store', [{ type: 'text', text: 'x', vector_store_ids: ['v'] }]],
    ['by an address of its own kind', [{ type: 'video_url', video_url: { url: 'ms://f' } }]],
    ['as an image of its own kind', [{ type: 'image_url', image_url: { url: ' oss://a/b' } }]],
    ['by an address in any field', [{ type: 'text', text: 'x', more: { uri: 'gs://a/b' } }]],
  ])('is a file kept upstream, %s', (_, content) => {
    for (const message of [
      { role: 'user', content },
      { type: 'function_call_output', output: content },
      { type: 'function_call_output', role: 'user', output: content },
      { type: 'function_call_output', role: 'user', content: '', output: content },
      { role: 'user', content: 'x', more: [{ content }] },
    ]) {
      const { problem } = counter().messages([message])
      expect([problem?.code, problem?.extras.param]).toEqual(['not_found', 'file_id'])
    }
  })

  test.each<[string, object]>([
    ['container_id', { type: 'code_interpreter_call', container_id: 'c' }],
    ['container_id', { type: 'code_interpreter_call', container_id: 'c', role: 'user' }],
    ['container_id', { type: 'code_interpreter_call', container_id: 'c', content: '' }],
    ['container', { role: 'assistant', content: 'x', container: { id: 'c' } }],
    ['cached_content', { role: 'user', content: 'x', google: { cachedContent: 'a' } }],
    ['previous_response_id', { role: 'user', content: 'x', previous_response_id: 'r' }],
    ['audio.id', { role: 'assistant', content: 'x', audio: { id: 'a' } }],
    ['file_id', { role: 'assistant', content: 'x', tool_calls: [{ file_id: 'f' }] }],
    ['file_id', { role: 'user', content: 'x', attachments: [{ file_id: 'f' }] }],
    ['file_id', { role: 'user', content: 'x', metadata: 1, images: [{ file_id: 'f' }] }],
  ])('is another object kept upstream: %s in %j', (param, message) => {
    const { problem } = counter().messages([message])
    expect(problem?.code).toBe('not_found')
    expect([param, 'file_id']).toContain(problem!.extras.param!)
  })

  test.each<[string, object]>([
    ['files', { type: 'function', function: { name: 'f' }, file_ids: ['f'] }],
    ['a container', { type: 'function', function: { name: 'f' }, container: 'c' }],
    ['a search', { type: 'function', function: { name: 'f' }, web_search: {} }],
    ['a search without a type', { google_search: {} }],
    ['a remote server', { type: 'function', function: { name: 'f' }, server_url: 'https://a' }],
  ])('is what a tool of the caller hides: %s', (_, tool) => {
    expect(counter().tools([tool]).problem).toBeDefined()
    expect(counter().tools(tool).problem).toBeDefined()
  })

  test('is not the word in what a tool takes or is given', () => {
    const use = { type: 'tool_use', input: { file_id: 'mine', url: 'https://a.example' } }
    const called = { function: { name: 'f', arguments: '{"file_id":"mine"}' } }
    const parameters = { properties: { file_id: { type: 'string' } } }
    const counted = counter()
      .messages([{ role: 'assistant', content: [use], tool_calls: [called], annotations: [] }])
      .tools([{ type: 'function', function: { name: 'f', parameters } }])
    expect(counted.problem).toBeUndefined()
    expect(counted.bound('{}').isOpen).toBe(false)
  })

  test('is not what an answer says of its sources', () => {
    const cited = { type: 'url_citation', url: 'https://a.example', title: 'a' }
    const part = { type: 'output_text', text: 'x', annotations: [cited], logprobs: [] }
    const counted = counter().messages([{ role: 'assistant', content: [part] }])
    expect([counted.problem, counted.bound('{}').isOpen]).toEqual([undefined, false])
  })
})

test.each<[boolean, unknown]>([
  [true, [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } }]],
  [true, [{ type: 'tool_result', content: [{ text: 'x', cache_control: { ttl: '1h' } }] }]],
  [true, [{ type: 'text', text: 'x', more: { cache_control: { ttl: '2h' } } }]],
  [false, [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '5m' } }]],
  [false, [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }]],
])('whether it is kept for an hour is %p for %j', (wanted, content) => {
  expect(counter().messages([{ role: 'user', content }]).hourCache).toBe(wanted)
  const { cache_control } = (content as { cache_control?: unknown }[])[0]!
  if (cache_control === undefined) return
  expect(counter().tools([{ name: 'f', cache_control }]).hourCache).toBe(wanted)
})
