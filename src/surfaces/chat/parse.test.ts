// Chat requests: what is taken, what is refused and by which name.
import { describe, expect, test } from 'bun:test'
import { accepted, countsAnything, expectRefusal, read } from '../text/test-parsing.ts'
import { parseChat, parseLongChat } from './parse.ts'

const min = { model: 'm', messages: [{ role: 'user', content: 'hello' }] }

describe('a chat request', () => {
  test('is taken with its text, its fields and its size', () => {
    const call = accepted(parseChat, { ...min, anything: { else: 1 } })
    expect(call).toMatchObject({ interface: 'chat', model: 'm', stream: false, choices: 1 })
    expect(JSON.parse(call.body)).toEqual(call.fields)
    expect(call.inputTokens).toBe(8 + 2)
    expect(call).not.toHaveProperty('maxOutputTokens')
  })

  test('in the shape of another style may not have thousands of entries, whatever they are', () => {
    const input = Array.from({ length: 8_000 }, (_, at) => at)
    const refusal = read(parseChat, { model: 'm', input })
    expect(refusal).toMatchObject({ message: expect.stringContaining('too large for this path') })
  })

  test('in the shape of another style is rewritten in turns when it is long', async () => {
    const bodyOf = (count: number) => {
      const fields = {
        model: 'm',
        input: Array.from({ length: count }, (_, at) => ({ role: 'user', content: `item ${at}` })),
      }
      return { text: JSON.stringify(fields), fields }
    }
    expect(parseLongChat(bodyOf(10))).toEqual(parseChat(bodyOf(10)))
    let turns = 0
    let isOver = false
    const counted = (async () => {
      for (; !isOver; turns++) await new Promise((go) => setImmediate(go))
    })()
    const call = await parseLongChat(bodyOf(3_000))
    isOver = true
    await counted
    expect(call).toEqual(parseChat(bodyOf(3_000)))
    expect(turns).toBeGreaterThan(3)
  })

  test('with nulls is the same as without those fields', () => {
    const names = ['stream', 'stream_options', 'n', 'max_tokens', 'max_completion_tokens', 'tools']
    const nulls = Object.fromEntries(names.map((name) => [name, null]))
    const {
      body: _,
      fields: __,
      inputBound: a,
      ...call
    } = accepted(parseChat, { ...min, ...nulls })
    const { body: ___, fields: ____, inputBound: b, ...plain } = accepted(parseChat, min)
    expect(call).toEqual(plain)
    expect([a.isOpen, a.images]).toEqual([b.isOpen, b.images])
  })

  test.each<[Record<string, unknown>, number | undefined]>([
    [{ max_tokens: 5 }, 5],
    [{ max_tokens: 5, max_completion_tokens: 7 }, 7],
    [{ max_tokens: 9, max_completion_tokens: 7 }, 9],
    [{ max_tokens: 9, n_predict: 100 }, 100],
    [{ max_tokens: 9, n_predict: 3 }, 9],
    [{ max_tokens: 9, n_predict: -1 }, undefined],
    [{ max_tokens: 9, n: 2, extra_body: { options: { num_predict: 50 } } }, 100],
    [{ n_predict: 3 }, undefined],
    [{ max_tokens: 9, best_of: 3, n: 2 }, 27],
    [{ max_tokens: 9, prediction: { content: 'abcd' } }, 9 + 18],
    [{ max_tokens: 5, max_completion_tokens: null }, 5],
    [{ max_tokens: 5, n: 3 }, 15],
    [{ n: 128 }, undefined],
  ])('with %j has %p as the bound of its output', (fields, bound) => {
    expect(accepted(parseChat, { ...min, ...fields }).maxOutputTokens).toBe(bound as number)
  })

  test.each<[unknown, boolean]>([
    [{ include_usage: true }, true],
    [{ include_usage: false }, false],
    [{ include_usage: 'true' }, false],
    [{}, false],
  ])('with stream_options %j wants usage: %p', (stream_options, wants) => {
    const call = accepted(parseChat, { ...min, stream: true, stream_options })
    expect([call.stream, call.wantsUsage]).toEqual([true, wants])
  })

  test.each<[string, Record<string, unknown>]>([
    ['model', { model: undefined }],
    ['model', { model: null }],
    ['model', { model: '' }],
    ['model', { model: 5 }],
    ['model', { model: ['m'] }],
    ['messages', { messages: undefined }],
    ['messages', { messages: null }],
    ['messages', { messages: [] }],
    ['messages', { messages: 'hello' }],
    ['messages', { messages: { role: 'user' } }],
    ['messages', { messages: [...min.messages, 'hello'] }],
    ['messages', { messages: [null] }],
    ['messages', { messages: [[]] }],
    ['messages', { messages: [{ content: 'hello' }] }],
    ['messages', { messages: [{ role: 5, content: 'hello' }] }],
    ['stream', { stream: 'true' }],
    ['stream', { stream: 1 }],
    ['stream_options', { stream_options: true }],
    ['stream_options', { stream_options: [] }],
    ['n', { n: 0 }],
    ['n', { n: -1 }],
    ['n', { n: 1.5 }],
    ['n', { n: '2' }],
    ['n', { n: 129 }],
    ['max_tokens', { max_tokens: 0 }],
    ['max_tokens', { max_tokens: -5 }],
    ['max_tokens', { max_tokens: 1e300 }],
    ['max_tokens', { max_tokens: '5' }],
    ['max_completion_tokens', { max_completion_tokens: 0.5 }],
    ['best_of', { best_of: 129 }],
    ['web_search_options', { web_search_options: {} }],
    ['enable_search', { enable_search: true }],
    ['service_tier', { service_tier: 'priority' }],
    ['background', { background: true }],
    ['modalities', { modalities: ['text', 'audio'] }],
    ['audio', { audio: { voice: 'x', format: 'wav' } }],
    ['tools[0].type', { tools: [{ type: 'web_search' }] }],
    ['tools[0].type', { tools: [{ type: 'builtin_function', function: { name: '$web_search' } }] }],
    ['models', { models: ['dearer'] }],
  ])('is refused for its %s in %j', (param, fields) => {
    expectRefusal(read(parseChat, { ...min, ...fields }), param)
  })

  test.each<[string, Record<string, unknown>]>([
    [
      'file_id',
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
    ],
    ['file_id', { messages: [{ role: 'system', content: 'fileid://f' }] }],
    ['audio.id', { messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] }],
    ['conversation', { conversation: 'conv_1' }],
  ])('names nothing that exists by its %s in %j', (param, fields) => {
    expectRefusal(read(parseChat, { ...min, ...fields }), param, 'not_found')
  })

  test('is taken with what clients send besides', () => {
    const common = { service_tier: 'auto', store: false, modalities: ['text'], audio: null }
    const tools = [{ type: 'function', function: { name: 'web_search' } }, { type: 'custom' }]
    const nulls = { web_search_options: null, enable_search: false, tools, prediction: null }
    accepted(parseChat, { ...min, ...common, ...nulls })
  })

  test('names the place of a message that is wrong', () => {
    const refusal = read(parseChat, { model: 'm', messages: [min.messages[0], {}] })
    expect(refusal).toMatchObject({ message: expect.stringContaining("'messages[1]'") })
  })

  test('for a name longer than any model has is refused as unknown, the name cut', () => {
    const refusal = read(parseChat, { ...min, model: 'x'.repeat(257) })
    expectRefusal(refusal, 'model', 'model_not_found')
    expect(JSON.stringify(refusal)).not.toContain('x'.repeat(33))
    expect(accepted(parseChat, { ...min, model: 'x'.repeat(256) }).model).toHaveLength(256)
  })

  test('of any content has a size', () => {
    countsAnything(parseChat, min, ['tools', 'max_tokens', 'n'])
    const parse: typeof parseChat = (body) => {
      const messages = [{ role: 'user', ...body.fields }]
      return parseChat({ text: body.text, fields: { model: 'm', messages } })
    }
    countsAnything(parse, {}, ['content', 'tool_calls', 'name'])
  })
})
