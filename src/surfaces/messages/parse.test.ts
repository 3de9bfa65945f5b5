// Messages requests: what is taken, what is refused and by which name, and the headers of the style.
import { describe, expect, test } from 'bun:test'
import { accepted, countsAnything, expectRefusal, read } from '../text/test-parsing.ts'
import { parseCount, parseMessages } from './parse.ts'

const min = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hello' }] }

describe('a messages request', () => {
  test('is taken with the bound of its output and its size', () => {
    const call = accepted(parseMessages, { ...min, system: 'x'.repeat(40), stream: true })
    expect(call).toMatchObject({
      interface: 'messages',
      maxOutputTokens: 9,
      inputTokens: 8 + 2 + 10,
      stream: true,
      wantsUsage: true,
      dialect: {},
    })
  })

  test('counts system blocks, tools and the results of tools', () => {
    const plain = accepted(parseMessages, min).inputTokens
    const size = (fields: object) => accepted(parseMessages, { ...min, ...fields }).inputTokens
    expect(size({ system: [{ type: 'text', text: 'four' }] })).toBe(plain + 1)
    expect(size({ tools: [{ name: 'four' }] })).toBe(plain + 5)
    const result = { type: 'tool_result', content: [{ type: 'text', text: 'four' }] }
    expect(size({ messages: [{ role: 'user', content: [result] }] })).toBe(8 + 1)
    const use = { type: 'tool_use', name: 'f', input: { a: 'four' } }
    expect(size({ messages: [{ role: 'assistant', content: [use] }] })).toBe(8 + 3)
  })

  test.each<[string, Record<string, unknown>]>([
    ['model', { model: undefined }],
    ['model', { model: 7 }],
    ['messages', { messages: null }],
    ['messages', { messages: [] }],
    ['messages', { messages: 'hello' }],
    ['messages', { messages: ['hello'] }],
    ['messages', { messages: [{ role: 'user', content: '' }, { content: '' }] }],
    ['stream', { stream: 1 }],
    ['max_tokens', { max_tokens: undefined }],
    ['max_tokens', { max_tokens: null }],
    ['max_tokens', { max_tokens: 0 }],
    ['max_tokens', { max_tokens: -1 }],
    ['max_tokens', { max_tokens: '9' }],
    ['max_tokens', { max_tokens: 9.5 }],
    ['max_tokens', { max_tokens: 1e99 }],
  ])('is refused for its %s in %j', (param, fields) => {
    expectRefusal(read(parseMessages, { ...min, ...fields }), param)
  })

  test('that only asks for its size needs no bound of an output', () => {
    const { max_tokens: _, ...rest } = min
    const call = accepted(parseCount, { ...rest, stream: true })
    expect([call.inputTokens, call.stream]).toEqual([10, false])
    expectRefusal(read(parseCount, { ...rest, messages: [] }), 'messages')
  })

  test('of any content has a size', () => {
    countsAnything(parseMessages, min, ['system', 'tools', 'tool_choice'])
    countsAnything(
      (body, x) => {
        const text = JSON.stringify({ ...min, messages: [{ role: 'user', ...body.fields }] })
        return parseMessages({ text, fields: JSON.parse(text) }, x)
      },
      {},
      ['content', 'tool_calls'],
    )
  })
})

describe('what costs beyond tokens, or lies upstream,', () => {
  test.each<[string, string, Record<string, unknown>]>([
    ['tools[0].type', 'invalid_request', { tools: [{ type: 'web_search_20250305', name: 'w' }] }],
    ['tools[0].type', 'invalid_request', { tools: [{ type: 'web_fetch_20250910', name: 'w' }] }],
    ['tools[0].type', 'invalid_request', { tools: [{ type: 'code_execution_20250825' }] }],
    ['tools[0].type', 'invalid_request', { tools: [{ type: 'mcp_toolset' }] }],
    ['mcp_servers', 'invalid_request', { mcp_servers: [{ url: 'https://a.example' }] }],
    ['service_tier', 'invalid_request', { service_tier: 'priority' }],
    ['speed', 'invalid_request', { speed: 'fast' }],
    ['inference_geo', 'invalid_request', { inference_geo: 'us' }],
    ['container', 'not_found', { container: 'container_1' }],
    ['container', 'not_found', { container: { id: 'container_1' } }],
    ['container', 'invalid_request', { container: { skills: [] } }],
    [
      'file_id',
      'not_found',
      { messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'f' }] }] },
    ],
  ])('is refused by its %s: %s, %j', (param, code, fields) => {
    expectRefusal(read(parseMessages, { ...min, ...fields }), param, code)
    expectRefusal(read(parseCount, { ...min, ...fields }), param, code)
  })

  test('is not what the caller runs itself', () => {
    const types = ['custom', 'bash_20250124', 'text_editor_20250728', 'computer_20250124']
    const tools = [{ name: 'f' }, ...types.map((type) => ({ type, name: type }))]
    const plain = { service_tier: 'standard_only', mcp_servers: [], container: null }
    accepted(parseMessages, { ...min, ...plain, tools })
  })
})

describe('the version and the betas of a caller', () => {
  test.each<[Record<string, string>, object]>([
    [{}, {}],
    [{ 'msgapi-version': '2023-06-01' }, { version: '2023-06-01' }],
    [{ 'anthropic-version': '2023-06-01' }, { version: '2023-06-01' }],
    [
      { 'Anthropic-Version': 'made-up', 'MsgApi-Beta': 'a,b' },
      { version: 'made-up', beta: 'a,b' },
    ],
    [{ 'msgapi-version': 'a', 'anthropic-version': 'b' }, { version: 'a' }],
    [{ 'msgapi-beta': '', 'anthropic-beta': 'b' }, { beta: 'b' }],
    [{ 'msgapi-beta': '' }, {}],
    [{ 'msgapi-beta': 'x'.repeat(2048) }, { beta: 'x'.repeat(2048) }],
  ])('in %j are read', (headers, dialect) => {
    expect(accepted(parseMessages, min, headers).dialect).toEqual(dialect)
  })

  test.each<[string, Record<string, string>]>([
    ['msgapi-version', { 'msgapi-version': '2023\t06' }],
    ['msgapi-version', { 'anthropic-version': 'ü' }],
    ['msgapi-beta', { 'msgapi-beta': 'a\u0001b' }],
    ['msgapi-beta', { 'anthropic-beta': 'x'.repeat(2049) }],
  ])('are refused as %s when they cannot be passed on', (param, headers) => {
    expectRefusal(read(parseMessages, min, headers), param)
    expectRefusal(read(parseCount, min, headers), param)
  })
})
