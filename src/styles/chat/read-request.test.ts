// What a chat request says, and what of it is refused or lost.
import { describe, expect, test } from 'bun:test'
import type { Json } from '../common/conversation.ts'
import { Losses } from '../common/losses.ts'
import { envelopes, readFields } from '../common/test-support.ts'
import { chat } from './index.ts'

const hello = { role: 'user', content: 'hello' }
const read = (fields: Json) => readFields(chat, { model: 'm', messages: [hello], ...fields })
const turnsOf = (...messages: unknown[]) => read({ messages }).conversation.turns

describe('messages', () => {
  test('leading instructions are the system prompt, later ones stay in place', () => {
    const { conversation } = read({
      messages: [
        { role: 'system', content: 'a' },
        { role: 'developer', content: [{ type: 'text', text: 'b', cache_control: { ttl: '1h' } }] },
        hello,
        { role: 'system', content: 'c' },
        hello,
      ],
    })
    expect(conversation.system).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b', cache: { ttl: '1h' } },
    ])
    expect(conversation.turns.map(({ role }) => role)).toEqual(['user', 'system', 'user'])
  })

  test('results of tools are one turn of the user with what follows', () => {
    const turns = turnsOf(
      hello,
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'a',
            type: 'function',
            function: { name: 'f', arguments: '{"n":12345678901234567890}' },
          },
          { id: 'b', type: 'custom', custom: { name: 'g', input: '*** Begin' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'y' }] },
      { role: 'user', content: '' },
      { role: 'user', content: 'go on' },
    )
    expect(turns.slice(1)).toEqual([
      {
        role: 'assistant',
        parts: [
          {
            type: 'call',
            id: 'a',
            name: 'f',
            freeForm: false,
            input: '{"n":12345678901234567890}',
          },
          { type: 'call', id: 'b', name: 'g', freeForm: true, input: '*** Begin' },
        ],
      },
      {
        role: 'user',
        parts: [
          { type: 'result', callId: 'a', isError: false, parts: [{ type: 'text', text: 'x' }] },
          { type: 'result', callId: 'b', isError: false, parts: [{ type: 'text', text: 'y' }] },
          { type: 'text', text: 'go on' },
        ],
      },
    ])
  })

  test('a result without an id belongs to the only open call', () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '' } }
    const turns = turnsOf(
      hello,
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', content: 'x' },
    )
    expect(turns[2]!.parts[0]).toMatchObject({ type: 'result', callId: 'a' })
    expect(turns[1]!.parts[0]).toMatchObject({ type: 'call', input: '{}' })
  })

  test('functions of the first versions are tools', () => {
    const { conversation } = read({
      messages: [
        hello,
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: 'x' },
      ],
      functions: [{ name: 'f', parameters: { type: 'object' } }],
      function_call: { name: 'f' },
    })
    const [, called, result] = conversation.turns
    expect(called!.parts[0]).toMatchObject({ type: 'call', name: 'f' })
    expect(result!.parts[0]).toMatchObject({
      callId: (called!.parts[0] as { id: string }).id,
      name: 'f',
    })
    expect(conversation.tools).toEqual([{ name: 'f', schema: { type: 'object' } }])
    expect(conversation.toolChoice).toEqual({ mode: 'tool', name: 'f' })
  })

  test.each<[string, unknown, unknown]>([
    [
      'an image as data',
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
      { type: 'image', mimeType: 'image/png', data: 'AAAA', detail: 'low' },
    ],
    [
      'an image by URL',
      { type: 'image_url', image_url: { url: 'https://a.example/x.png' } },
      { type: 'image', url: 'https://a.example/x.png' },
    ],
    [
      'a document',
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
      { type: 'document', mimeType: 'application/pdf', data: 'AAAA', name: 'a.pdf' },
    ],
    [
      'audio',
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
      { type: 'audio', mimeType: 'audio/mp3', data: 'AAAA' },
    ],
    [
      'a video',
      { type: 'video_url', video_url: { url: 'https://a.example/x.mp4' } },
      { type: 'video', url: 'https://a.example/x.mp4' },
    ],
    [
      'a marked text',
      { type: 'text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } },
      { type: 'text', text: 'a', cache: {} },
    ],
  ])('%s is read', (_, part, expected) => {
    const { conversation, losses } = read({ messages: [{ role: 'user', content: [part] }] })
    expect(conversation.turns[0]!.parts).toEqual([expected as never])
    expect(losses).toEqual([])
  })

  test('reasoning and refusals of earlier turns are read', () => {
    const seal = { realm: 'r', data: 'sig', text: 'whole' }
    const detail = { type: 'reasoning.encrypted', data: envelopes.wrap(seal) }
    const turns = turnsOf(
      hello,
      { role: 'assistant', content: null, refusal: 'no', reasoning_content: 'hm' },
      hello,
      { role: 'assistant', content: 'yes', reasoning: 'hm', reasoning_details: [detail] },
    )
    expect(turns[1]!.parts).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'refusal', text: 'no' },
    ])
    expect(turns[3]!.parts[0]).toEqual({ type: 'reasoning', text: 'whole', seal })
  })
})

describe('settings', () => {
  test.each<[Json, Json]>([
    [{ max_tokens: 5 }, { maxOutputTokens: 5 }],
    [{ max_tokens: 5, max_completion_tokens: 7 }, { maxOutputTokens: 7 }],
    [{ stop: 'x' }, { stop: ['x'] }],
    [{ stop: ['x', 'y'] }, { stop: ['x', 'y'] }],
    [
      {
        temperature: 0.5,
        top_p: 0.9,
        top_k: 4,
        seed: 1,
        presence_penalty: 1,
        frequency_penalty: 2,
      },
      {
        sampling: {
          temperature: 0.5,
          topP: 0.9,
          topK: 4,
          seed: 1,
          presencePenalty: 1,
          frequencyPenalty: 2,
        },
      },
    ],
    [{ reasoning_effort: 'minimal' }, { effort: 'minimal' }],
    [
      { reasoning_effort: 'low', include_reasoning: true },
      { effort: 'low', showReasoning: true },
    ],
    [{ enable_thinking: true }, { effort: 'medium', showReasoning: true }],
    [{ thinking: { type: 'enabled' } }, { effort: 'medium', showReasoning: true }],
    [{ reasoning: { effort: 'high' } }, { effort: 'high', wantsSeals: true, showReasoning: true }],
    [{ reasoning: { max_tokens: 2_000 } }, { reasoningBudget: 2_000 }],
    [{ reasoning: { exclude: true } }, { showReasoning: false }],
    [{ enable_thinking: false }, { effort: 'none' }],
    [{ thinking: { type: 'enabled', budget_tokens: 3_000 } }, { reasoningBudget: 3_000 }],
    [{ thinking: { type: 'disabled' } }, { effort: 'none' }],
    [{ response_format: { type: 'json_object' } }, { format: { kind: 'json' } }],
    [
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'n', strict: true, schema: { type: 'object' } },
        },
      },
      { format: { kind: 'schema', name: 'n', strict: true, schema: { type: 'object' } } },
    ],
    [{ logprobs: true, top_logprobs: 2 }, { logprobs: 2 }],
    [{ logprobs: false }, {}],
    [
      { n: 2, logit_bias: { '1': 2 } },
      { choices: 2, logitBias: { '1': 2 } },
    ],
    [
      { prompt_cache_key: 'k', user: 'u', verbosity: 'low' },
      { cacheKey: 'k', endUser: 'u' },
    ],
    [{ parallel_tool_calls: false }, { parallelCalls: false }],
    [{ tool_choice: 'required' }, { toolChoice: { mode: 'required' } }],
    [
      {
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: {
            mode: 'required',
            tools: [{ type: 'function', function: { name: 'f' } }],
          },
        },
      },
      { toolChoice: { mode: 'allowed', names: ['f'], required: true } },
    ],
    [
      {
        tools: [
          {
            type: 'custom',
            custom: {
              name: 'patch',
              format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: x' } },
            },
          },
        ],
      },
      { tools: [{ name: 'patch', freeForm: { grammar: 'start: x', syntax: 'lark' } }] },
    ],
  ])('%j is read', (fields, expected) => {
    const { conversation, losses } = read(fields)
    expect(conversation).toMatchObject(expected)
    expect(losses).toEqual([])
  })

  test.each([[{ reasoning_effort: 'low' }], [{ reasoning: { enabled: false } }]])(
    '%j does not ask to see the reasoning',
    (fields) => {
      expect(read(fields).conversation.showReasoning).toBeUndefined()
    },
  )

  test('nulls are as good as absent', () => {
    const names = ['tools', 'tool_choice', 'stop', 'temperature', 'response_format', 'n', 'seed']
    const nulls = Object.fromEntries([...names, 'unheard_of'].map((name) => [name, null]))
    expect(read(nulls)).toEqual(read({}))
  })

  test('fields that are not known are lost by name, hints are not', () => {
    const { losses } = read({
      unheard_of: 1,
      'bad name;\r\n': 1,
      store: true,
      metadata: { a: 'b' },
      service_tier: 'auto',
      reasoning_effort: 'ultra',
      messages: [{ ...hello, name: 'Ann', content: [{ type: 'text', text: 'x', other: 1 }] }],
    })
    expect(losses).toEqual([
      'bad_name___',
      'messages.content.other',
      'messages.name',
      'reasoning_effort',
      'store',
      'unheard_of',
    ])
  })
})

test('what is lost later has the name that the caller used', () => {
  const names = read({ max_tokens: 5, thinking: { type: 'disabled' } }).conversation.fieldNames
  expect([names.maxOutputTokens, names.effort]).toEqual(['max_tokens', 'thinking'])
  const newer = read({ max_completion_tokens: 5, max_tokens: 6 }).conversation.fieldNames
  expect([newer.maxOutputTokens, newer.effort]).toEqual([
    'max_completion_tokens',
    'reasoning_effort',
  ])
})

test.each<[string, Json]>([
  [
    'messages[0].content[0].type',
    { messages: [{ role: 'user', content: [{ type: 'hologram' }] }] },
  ],
  [
    'messages[0].content[0].type',
    { messages: [{ role: 'user', content: [{ type: 'toString' }] }] },
  ],
  [
    'messages[0].content[0].file.file_id',
    { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
  ],
  ['messages[0].content', { messages: [{ role: 'user', content: 5 }] }],
  ['messages[0].role', { messages: [{ role: 'narrator', content: 'x' }] }],
  ['messages[0].tool_call_id', { messages: [{ role: 'tool', content: 'x' }] }],
  [
    'messages[0].content',
    { messages: [{ role: 'system', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] },
  ],
  ['tools[0].type', { tools: [{ type: 'web_search' }] }],
  ['tools[0].function.name', { tools: [{ type: 'function', function: {} }] }],
  ['web_search_options', { web_search_options: {} }],
  ['tool_choice', { tool_choice: 5 }],
  ['tool_choice.type', { tool_choice: { type: 'mcp' } }],
  ['response_format.type', { response_format: { type: 'grammar' } }],
  ['temperature', { temperature: 'hot' }],
  ['stop', { stop: [1] }],
])('a wrong %s is refused by name', (param, fields) => {
  const given = { model: 'm', messages: [hello], ...fields }
  const refused = chat.readRequest({ fields: given, body: '', envelopes }, new Losses())
  expect(refused).toMatchObject({ code: 'invalid_request', extras: { param } })
})
