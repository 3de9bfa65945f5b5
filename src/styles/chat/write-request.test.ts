// A conversation for chat upstreams: what each setting of a channel makes of it.
import { describe, expect, test } from 'bun:test'
import type { Conversation, Json, Part, Tool, Turn } from '../common/conversation.ts'
import { emptyConversation, targetWith, writeTo } from '../common/test-support.ts'
import { fieldNames } from './fields.ts'
import { chat } from './index.ts'

const text = (value: string): Part => ({ type: 'text', text: value })
const user = (...parts: Part[]): Turn => ({ role: 'user', parts })
const assistant = (...parts: Part[]): Turn => ({ role: 'assistant', parts })
const call: Part = { type: 'call', id: 'a', name: 'shot', freeForm: false, input: '{}' }

const base: Conversation = { ...emptyConversation, fieldNames, turns: [user(text('hello'))] }
const write = (changes: Partial<Conversation>, target = targetWith()) =>
  writeTo(chat, { ...base, ...changes }, target)
const messagesOf = (turns: Turn[], target = targetWith()) => {
  const { request, losses } = write({ turns }, target)
  return { messages: request['messages'] as Json[], losses }
}

describe('turns', () => {
  test('an image in a result comes after the results, and the result says so', () => {
    const { messages, losses } = messagesOf([
      user(text('look')),
      assistant(call),
      user({
        type: 'result',
        callId: 'a',
        isError: true,
        parts: [
          { type: 'text', text: 'here' },
          { type: 'image', mimeType: 'image/png', data: 'AAAA' },
        ],
      }),
    ])
    expect(messages.slice(2)).toEqual([
      {
        role: 'tool',
        tool_call_id: 'a',
        content: '[error] here\n[image 1 of the result of shot follows]',
      },
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
      },
    ])
    expect(losses).toEqual(['messages.content'])
  })

  test('instructions in between are folded or stay, as the channel says', () => {
    const turns: Turn[] = [
      user(text('a')),
      { role: 'system', parts: [text('be brief')] },
      user(text('b')),
    ]
    const folded = messagesOf(turns)
    expect(folded.losses).toEqual(['messages'])
    expect(folded.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: '<system>\nbe brief\n</system>' },
          { type: 'text', text: 'b' },
        ],
      },
    ])
    const kept = messagesOf(turns, targetWith({ instructions: 'anywhere' }))
    expect(kept.losses).toEqual([])
    expect(kept.messages.map(({ role }) => role)).toEqual(['user', 'system', 'user'])
  })

  test('reasoning goes back as text where the channel wants it, on every turn with calls', () => {
    const turns = [
      user(text('a')),
      assistant({ type: 'reasoning', text: 'hm' }, call),
      user({ type: 'result', callId: 'a', isError: false, parts: [] }),
      assistant({ ...call, id: 'b' } as Part),
      user({ type: 'result', callId: 'b', isError: false, parts: [] }),
    ]
    const replayed = messagesOf(turns, targetWith({ replayReasoning: true }))
    expect(replayed.losses).toEqual([])
    expect([replayed.messages[1], replayed.messages[3]]).toMatchObject([
      { reasoning_content: 'hm', content: '' },
      { reasoning_content: '' },
    ])
    const dropped = messagesOf(turns)
    expect(dropped.losses).toEqual(['messages.reasoning_content'])
    expect(JSON.stringify(dropped.messages)).not.toContain('hm')
  })

  test('an upstream gets back the seals that are its own', () => {
    const own = { realm: 'here', data: '[{"type":"reasoning.encrypted","data":"x"}]' }
    const turns = [
      user(text('a')),
      assistant({ type: 'reasoning', text: '', seal: own }, text('b'), {
        ...call,
        seal: { realm: 'here', data: 'sig' },
      } as Part),
      user({ type: 'result', callId: 'a', isError: false, parts: [] }),
    ]
    const { messages, losses } = messagesOf(turns)
    expect(losses).toEqual([])
    expect(messages[1]).toMatchObject({
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }],
      tool_calls: [{ extra_content: { google: { thought_signature: 'sig' } } }],
    })
    const elsewhere = messagesOf(turns, targetWith({}, { realm: 'there' }))
    expect(elsewhere.losses).toEqual(['messages.reasoning_content'])
    expect(JSON.stringify(elsewhere.messages)).not.toContain('sig')
  })

  test('cache marks stay where the upstream reads them', () => {
    const marked: Part = { type: 'text', text: 'a', cache: { ttl: '1h' } }
    expect(messagesOf([user(marked)])).toEqual({
      messages: [{ role: 'user', content: 'a' }],
      losses: ['cache_control'],
    })
    expect(messagesOf([user(marked)], targetWith({ cacheControl: true }))).toEqual({
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } }],
        },
      ],
      losses: [],
    })
  })

  test('marks are added where the operator wants them and the upstream reads them', () => {
    const system = [{ type: 'text' as const, text: 's' }]
    const target = targetWith({ cacheControl: true, autoCache: true })
    const mark = { type: 'ephemeral' }
    expect(write({ system }, target).request['messages']).toEqual([
      { role: 'system', content: [{ type: 'text', text: 's', cache_control: mark }] },
      { role: 'user', content: [{ type: 'text', text: 'hello', cache_control: mark }] },
    ])
    expect(JSON.stringify(write({ system }, targetWith({ autoCache: true })))).not.toContain(
      'cache',
    )
  })

  test('a text document is text, another one a file', () => {
    const { messages, losses } = messagesOf([
      user(
        { type: 'document', text: 'content', name: 'notes' },
        { type: 'document', mimeType: 'application/pdf', data: 'AAAA', name: 'a.pdf' },
      ),
    ])
    expect(messages[0]!['content']).toEqual([
      { type: 'text', text: 'notes\n\ncontent' },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
    ])
    expect(losses).toEqual(['messages.content.file'])
  })

  test('several calls and their text are one message, and a long id is shortened alike', () => {
    const id = 'x'.repeat(90)
    const { messages } = messagesOf([
      user(text('a')),
      assistant(text('b'), { ...call, id } as Part, text('c')),
      user({ type: 'result', callId: id, isError: false, parts: [] }),
    ])
    const [made] = messages[1]!['tool_calls'] as Json[]
    expect(messages[1]!['content']).toBe('b\n\nc')
    expect(messages[2]!['tool_call_id']).toBe(made!['id'])
    expect(String(made!['id']).length).toBeLessThanOrEqual(64)
  })
})

const tool: Tool = { name: 'f', schema: { type: 'object', properties: {} } }
const freeForm: Tool = { name: 'patch', description: 'Patches.', freeForm: { grammar: 'start: x' } }

describe('settings', () => {
  test.each<[string, Partial<Conversation>, Json, string[]]>([
    ['no limit', {}, {}, []],
    ['a limit', { maxOutputTokens: 50 }, { max_tokens: 50 }, []],
    [
      'a limit above the hold',
      { maxOutputTokens: 99_000 },
      { max_tokens: 32_000 },
      ['max_completion_tokens'],
    ],
    ['stop sequences', { stop: ['x'] }, { stop: ['x'] }, []],
    [
      'sampling',
      { sampling: { temperature: 2, topK: 3, seed: 4 } },
      { temperature: 2, seed: 4 },
      ['top_k'],
    ],
    ['effort', { effort: 'xhigh' }, { reasoning_effort: 'xhigh' }, []],
    ['a budget', { reasoningBudget: 9_000 }, { reasoning_effort: 'medium' }, ['reasoning_effort']],
    ['JSON', { format: { kind: 'json' } }, { response_format: { type: 'json_object' } }, []],
    [
      'a schema that cannot be strict',
      {
        format: { kind: 'schema', schema: { type: 'object', properties: { a: {} } }, strict: true },
      },
      {
        response_format: {
          type: 'json_schema',
          json_schema: {
            name: 'answer',
            schema: { type: 'object', properties: { a: {} } },
            strict: false,
          },
        },
      },
      ['response_format'],
    ],
    [
      'a cache key',
      { cacheKey: 'k', verbosity: 'low' },
      { verbosity: 'low', prompt_cache_key: 'k' },
      [],
    ],
    [
      'a choice among some tools',
      {
        tools: [tool, { ...tool, name: 'g' }],
        toolChoice: { mode: 'allowed', names: ['f'], required: true },
        parallelCalls: false,
      },
      {
        tools: [{ type: 'function', function: { name: 'f', parameters: tool.schema } }],
        tool_choice: 'required',
        parallel_tool_calls: false,
      },
      ['tool_choice'],
    ],
    [
      'a strict tool that cannot be',
      { tools: [{ ...tool, strict: true, schema: { type: 'object', properties: { a: {} } } }] },
      {
        tools: [
          {
            type: 'function',
            function: {
              name: 'f',
              parameters: { type: 'object', properties: { a: {} } },
              strict: false,
            },
          },
        ],
      },
      ['tools.function.strict'],
    ],
  ])('%s', (_, changes, expected, lost) => {
    const { request, losses } = write(changes)
    const { model: __, messages: ___, ...rest } = request
    expect(rest).toEqual(expected)
    expect(losses).toEqual(lost)
  })

  test('a stream asks for its usage, a limit has the name that the channel knows', () => {
    const target = targetWith({ maxTokensField: 'max_completion_tokens' }, { stream: true })
    expect(write({ maxOutputTokens: 5 }, target).request).toMatchObject({
      max_completion_tokens: 5,
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test('a free-form tool is a function with one text, or itself where the upstream has such', () => {
    const changes: Partial<Conversation> = {
      tools: [freeForm],
      toolChoice: { mode: 'tool', name: 'patch' },
      turns: [
        user(text('a')),
        assistant({ type: 'call', id: 'a', name: 'patch', freeForm: true, input: '*** "Begin"' }),
        user({ type: 'result', callId: 'a', isError: false, parts: [] }),
      ],
    }
    const { request, losses } = write(changes)
    expect(losses).toEqual(['tools.custom'])
    expect(request).toMatchObject({
      tools: [
        { type: 'function', function: { name: 'patch', parameters: { required: ['input'] } } },
      ],
      tool_choice: { type: 'function', function: { name: 'patch' } },
    })
    expect(JSON.stringify(request['tools'])).toContain('start: x')
    const [, called] = request['messages'] as Json[]
    expect(called).toMatchObject({
      tool_calls: [{ function: { arguments: '{"input":"*** \\"Begin\\""}' } }],
    })
    const native = write(changes, targetWith({ freeFormTools: true }))
    expect(native.losses).toEqual([])
    expect(native.request).toMatchObject({
      tools: [{ type: 'custom', custom: { name: 'patch', format: { type: 'grammar' } } }],
      tool_choice: { type: 'custom', custom: { name: 'patch' } },
    })
  })

  test('an upstream that takes no schema gets it as an instruction', () => {
    const format = { kind: 'schema', schema: { type: 'object', title: 'T' } } as const
    const { request, losses } = write({ format }, targetWith({ outputSchema: false }))
    expect(losses).toEqual(['response_format'])
    expect(request).toMatchObject({ response_format: { type: 'json_object' } })
    expect(JSON.stringify(request['messages'])).toContain('\\"title\\":\\"T\\"')
  })

  test('long names of tools are shortened in tools, choice and history alike', () => {
    const name = `mcp__server__${'x'.repeat(80)}`
    const { request } = write({
      tools: [{ ...tool, name }],
      toolChoice: { mode: 'tool', name },
      turns: [
        user(text('a')),
        assistant({ ...call, name } as Part),
        user({ type: 'result', callId: 'a', isError: false, parts: [] }),
      ],
    })
    const sent = (request['tools'] as Json[]).map(({ function: made }) => (made as Json)['name'])[0]
    expect(String(sent)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(JSON.stringify(request).split(`"${sent}"`)).toHaveLength(4)
  })
})

test.each<[string, Partial<Conversation>, Parameters<typeof targetWith>[0]]>([
  ['n', { choices: 2 }, {}],
  ['logprobs', { logprobs: 0 }, {}],
  ['logit_bias', { logitBias: {} }, {}],
  ['stop', { stop: ['1', '2', '3', '4', '5'] }, {}],
  ['messages', { turns: [user(text('a')), assistant(text('b'))] }, {}],
  ['messages', { turns: [user(text('a')), assistant(call)] }, {}],
  ['messages', { turns: [] }, {}],
  ['messages', { turns: [assistant({ type: 'reasoning', text: 'x' }), user()] }, {}],
  [
    'messages.content.file',
    { turns: [user({ type: 'document', data: 'A', mimeType: 'application/pdf' })] },
    { documents: false },
  ],
  [
    'messages.content.image_url',
    { turns: [user({ type: 'image', url: 'https://a.example' })] },
    { mediaUrls: false },
  ],
  ['messages.content.file', { turns: [user({ type: 'document', url: 'https://a.example' })] }, {}],
])('%s that cannot be carried is refused', (param, changes, settings) => {
  expect(write(changes, targetWith(settings)).param).toBe(param)
})

test('a strict channel refuses every change by name', () => {
  const strict = targetWith({}, { strict: true })
  expect(write({ sampling: { topK: 3 } }, strict).param).toBe('top_k')
  expect(write({ sampling: { temperature: 1 } }, strict).param).toBeUndefined()
})

test('the same conversation gives the same bytes', () => {
  const changes = { tools: [tool, freeForm], effort: 'low', stop: ['x'] } as const
  const once = JSON.stringify(write({ ...changes, tools: [...changes.tools] }).request)
  expect(JSON.stringify(write({ ...changes, tools: [...changes.tools] }).request)).toBe(once)
})
