// What a messages request says, and what of it is refused or lost.
import { describe, expect, test } from 'bun:test'
import type { Json } from '../common/conversation.ts'
import { parseExact } from '../common/exact-json.ts'
import { Losses } from '../common/losses.ts'
import { envelopes, readFields } from '../common/test-support.ts'
import { messages } from './index.ts'

const hello = { role: 'user', content: 'hello' }
const read = (fields: Json) =>
  readFields(messages, { model: 'm', max_tokens: 9, messages: [hello], ...fields })
const partsOf = (...content: unknown[]) => {
  const { conversation, losses } = read({ messages: [{ role: 'user', content }] })
  return { parts: conversation.turns[0]?.parts as unknown[], losses }
}

describe('messages', () => {
  test('the system prompt is a text or blocks, without the line that names the conversation', () => {
    expect(read({ system: 'a' }).conversation.system).toEqual([{ type: 'text', text: 'a' }])
    const system = [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=1' },
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: '' },
    ]
    const { conversation, losses } = read({ system })
    expect(conversation.system).toEqual([{ type: 'text', text: 'a', cache: { ttl: '1h' } }])
    expect(losses).toEqual([])
  })

  test('a system turn stays in place', () => {
    const system = { role: 'system', content: [{ type: 'text', text: 'be brief' }] }
    const { conversation } = read({ messages: [hello, system, hello] })
    expect(conversation.turns.map(({ role }) => role)).toEqual(['user', 'system', 'user'])
  })

  test('turns of one role are merged, and empty texts are gone', () => {
    const empty = { role: 'assistant', content: [{ type: 'text', text: '' }] }
    const { conversation } = read({ messages: [hello, empty, hello] })
    expect(conversation.turns).toHaveLength(1)
    expect(conversation.turns[0]!.parts).toHaveLength(2)
  })

  test.each<[string, Json, unknown]>([
    [
      'an image',
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    ],
    [
      'an image by URL',
      { type: 'image', source: { type: 'url', url: 'https://a.example' } },
      { type: 'image', url: 'https://a.example' },
    ],
    [
      'a document',
      {
        type: 'document',
        title: 'T',
        source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
      },
      { type: 'document', mimeType: 'application/pdf', data: 'AAAA', name: 'T' },
    ],
    [
      'a text document',
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } },
      { type: 'document', mimeType: 'text/plain', text: 'x' },
    ],
    [
      'a document of blocks',
      { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'x' }] } },
      { type: 'document', text: 'x' },
    ],
    [
      'a result with an image',
      {
        type: 'tool_result',
        tool_use_id: 'a',
        is_error: true,
        content: [
          { type: 'text', text: '' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        ],
      },
      {
        type: 'result',
        callId: 'a',
        isError: true,
        parts: [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }],
      },
    ],
    [
      'a call',
      { type: 'tool_use', id: 'a', name: 'f', input: { b: 1, a: 2 } },
      { type: 'call', id: 'a', name: 'f', freeForm: false, input: '{"b":1,"a":2}' },
    ],
    [
      'a marked text',
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'a', cache: {} },
    ],
  ])('%s is read', (_, block, expected) => {
    expect(partsOf(block)).toEqual({ parts: [expected], losses: [] })
  })

  test('numbers in the input of a call are kept as they are', () => {
    const input = '{"id":12345678901234567890}'
    const body = `{"messages":[{"role":"user","content":[{"type":"tool_use","id":"a","name":"f","input":${input}}]}]}`
    const fields = parseExact(body) as Json
    const conversation = messages.readRequest({ fields, body, envelopes }, new Losses())
    expect(conversation).toMatchObject({ turns: [{ parts: [{ input }] }] })
  })

  test('thinking comes back with the text that was signed', () => {
    const seal = { realm: 'r', data: 'sig', text: 'whole' }
    const redacted = { realm: 'r', data: 'x', redacted: true } as const
    const { parts } = partsOf(
      { type: 'thinking', thinking: '', signature: envelopes.wrap(seal) },
      { type: 'redacted_thinking', data: envelopes.wrap(redacted) },
      { type: 'thinking', thinking: 'raw', signature: 'of another gateway' },
    )
    expect(parts).toEqual([
      { type: 'reasoning', text: 'whole', seal },
      { type: 'reasoning', text: '', redacted: true, seal: redacted },
      { type: 'reasoning', text: 'raw' },
    ])
  })

  test('the seal of a call comes back on the call', () => {
    const seal = { realm: 'r', data: 'sig' }
    const { parts } = partsOf(
      { type: 'thinking', thinking: '', signature: envelopes.wrap({ ...seal, itemId: 'a' }) },
      { type: 'tool_use', id: 'a', name: 'f', input: {} },
    )
    expect(parts).toEqual([
      { type: 'call', id: 'a', name: 'f', freeForm: false, input: '{}', seal },
    ])
  })

  test('a mark on the request is one on its last block', () => {
    const { conversation } = read({ cache_control: { type: 'ephemeral' } })
    expect(conversation.turns[0]!.parts).toEqual([{ type: 'text', text: 'hello', cache: {} }])
  })
})

describe('settings', () => {
  test.each<[Json, Json]>([
    [{ max_tokens: 5 }, { maxOutputTokens: 5 }],
    [{ stop_sequences: ['x'] }, { stop: ['x'] }],
    [
      { temperature: 0.5, top_p: 0.9, top_k: 4 },
      { sampling: { temperature: 0.5, topP: 0.9, topK: 4 } },
    ],
    [
      { thinking: { type: 'enabled', budget_tokens: 2_000 } },
      { reasoningBudget: 2_000, showReasoning: true },
    ],
    [
      { thinking: { type: 'enabled', budget_tokens: 2_000, display: 'omitted' } },
      { reasoningBudget: 2_000, showReasoning: false },
    ],
    [{ thinking: { type: 'disabled' } }, { effort: 'none' }],
    [
      { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'medium' } },
      { effort: 'medium', showReasoning: false },
    ],
    [{ thinking: { type: 'adaptive', display: 'summarized' } }, { showReasoning: true }],
    [
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
      { format: { kind: 'schema', schema: { type: 'object' }, strict: true } },
    ],
    [{ tool_choice: { type: 'any' } }, { toolChoice: { mode: 'required' } }],
    [
      { tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true } },
      { toolChoice: { mode: 'tool', name: 'f' }, parallelCalls: false },
    ],
    [{ tool_choice: { type: 'none' } }, { toolChoice: { mode: 'none' } }],
    [{ metadata: { user_id: 'u' } }, { endUser: 'u' }],
    [
      {
        tools: [
          { name: 'f', input_schema: { type: 'object' }, strict: true, defer_loading: false },
        ],
      },
      { tools: [{ name: 'f', schema: { type: 'object' }, strict: true }] },
    ],
  ])('%j is read', (fields, expected) => {
    const { conversation, losses } = read(fields)
    expect(conversation).toMatchObject(expected)
    expect(losses).toEqual([])
  })

  test('a tool with deferred loading is offered once a result refers to it', () => {
    const deferred = (name: string) => ({ name, input_schema: {}, defer_loading: true })
    const result = {
      type: 'tool_result',
      tool_use_id: 'a',
      content: [
        { type: 'tool_reference', tool_name: 'later' },
        { type: 'tool_reference', tool_name: 'gone' },
      ],
    }
    const { conversation, losses } = read({
      tools: [{ name: 'search', input_schema: {} }, deferred('never'), deferred('later')],
      messages: [hello, { role: 'user', content: [result] }],
    })
    expect(conversation.tools.map(({ name }) => name)).toEqual(['search', 'later'])
    const [, part] = conversation.turns[0]!.parts
    expect(part).toMatchObject({
      type: 'result',
      parts: [
        { type: 'text', text: "The tool 'later' can be called now." },
        { type: 'text', text: "The tool 'gone' can be called now." },
      ],
    })
    expect(losses).toEqual(['tools.defer_loading'])
  })

  test('what has no meaning elsewhere is lost by name, hints are not', () => {
    const { losses } = read({
      context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
      service_tier: 'auto',
      betas: ['x'],
      system: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral', scope: 'global' } }],
      tools: [
        {
          name: 'f',
          input_schema: {},
          defer_loading: true,
          input_examples: [{}],
          eager_input_streaming: true,
        },
      ],
      thinking: { type: 'disabled' },
      output_config: { effort: 'high', task_budget: { total: 9 } },
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'document',
              context: 'c',
              citations: { enabled: true },
              source: { type: 'text', media_type: 'text/plain', data: 'x' },
            },
          ],
        },
      ],
    })
    expect(losses).toEqual([
      'cache_control.scope',
      'context_management',
      'document.citations',
      'document.context',
      'output_config.effort',
      'output_config.task_budget',
      'tools.defer_loading',
      'tools.input_examples',
    ])
  })
})

const content = (...blocks: unknown[]) => ({ messages: [{ role: 'user', content: blocks }] })

test.each<[string, Json]>([
  ['messages[0].content[0].type', content({ type: 'server_tool_use', id: 'a' })],
  ['messages[0].content[0].type', content({ type: 'constructor' })],
  [
    'messages[0].content[0].source.type',
    content({ type: 'image', source: { type: 'file', file_id: 'f' } }),
  ],
  [
    'messages[0].content[0].content[0].tool_name',
    content({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'tool_reference' }] }),
  ],
  [
    'messages[0].content[0].content[0].type',
    content({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'search_result' }] }),
  ],
  ['messages[0].content[0].id', content({ type: 'tool_use', name: 'f', input: {} })],
  ['messages[0].content[0]', content(null)],
  ['messages[0].role', { messages: [{ role: 'tool', content: 'x' }] }],
  ['system', { system: 5 }],
  ['mcp_servers', { mcp_servers: [{ type: 'url' }] }],
  ['tools[0].type', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
  ['tools[0].type', { tools: [{ type: 'bash_20250124', name: 'bash' }] }],
  ['tool_choice.type', { tool_choice: { type: 'some' } }],
  ['output_config.format', { output_config: { format: { type: 'regex' } } }],
  ['max_tokens', { max_tokens: '9' }],
])('a wrong %s is refused by name', (param, fields) => {
  const given = { model: 'm', max_tokens: 9, messages: [hello], ...fields }
  const refused = messages.readRequest({ fields: given, body: '', envelopes }, new Losses())
  expect(refused).toMatchObject({ code: 'invalid_request', extras: { param } })
})
