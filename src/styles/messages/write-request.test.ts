// A conversation for upstreams of the messages style: what each setting of a channel makes of it.
import { describe, expect, test } from 'bun:test'
import type { Conversation, Json, Part, Tool, Turn } from '../common/conversation.ts'
import { emptyConversation, targetWith, writeTo } from '../common/test-support.ts'
import { fieldNames } from './fields.ts'
import { messages } from './index.ts'

const text = (value: string): Part => ({ type: 'text', text: value })
const user = (...parts: Part[]): Turn => ({ role: 'user', parts })
const assistant = (...parts: Part[]): Turn => ({ role: 'assistant', parts })
const call: Part = { type: 'call', id: 'a', name: 'f', freeForm: false, input: '{"x":1}' }
const result: Part = { type: 'result', callId: 'a', isError: false, parts: [] }
const tool: Tool = { name: 'f', schema: { type: 'object', properties: {} } }

const base: Conversation = { ...emptyConversation, fieldNames, turns: [user(text('hello'))] }
const write = (changes: Partial<Conversation>, target = targetWith()) =>
  writeTo(messages, { ...base, ...changes }, target)

function contentOf(turns: Turn[], target = targetWith()) {
  const { request, losses } = write({ turns }, target)
  const all = request['messages'] as { role: string; content: Json[] }[]
  return { roles: all.map(({ role }) => role), content: all.map(({ content }) => content), losses }
}

describe('turns', () => {
  test('begin with the user, and say so when the caller did not', () => {
    const { roles, losses } = contentOf([assistant(text('hi')), user(text('a'))])
    expect(roles).toEqual(['user', 'assistant', 'user'])
    expect(losses).toEqual(['messages'])
  })

  test('have no block that is empty or white space', () => {
    const { content, losses } = contentOf([
      user(text('a'), text(' \n')),
      assistant(text(' ')),
      user(text('b')),
    ])
    expect(content).toEqual([
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    ])
    expect(losses).toEqual(['messages'])
  })

  test('an answer that was begun ends without white space', () => {
    const { content } = contentOf([user(text('a')), assistant(text('The answer is: '))])
    expect(content[1]).toEqual([{ type: 'text', text: 'The answer is:' }])
  })

  test('results keep images, errors and marks', () => {
    const { content, losses } = contentOf([
      user(text('a')),
      assistant(call),
      user({
        type: 'result',
        callId: 'a',
        isError: true,
        cache: {},
        parts: [
          { type: 'text', text: 'x' },
          { type: 'image', mimeType: 'image/png', data: 'AAAA' },
        ],
      }),
    ])
    expect(losses).toEqual([])
    expect(content[2]).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'a',
        content: [
          { type: 'text', text: 'x' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        ],
        is_error: true,
        cache_control: { type: 'ephemeral' },
      },
    ])
  })

  test.each<[string, string, boolean]>([
    ['', '{}', false],
    ['{"b":1,"a":12345678901234567890}', '{"b":1,"a":12345678901234567890}', false],
    ['[1]', '{"input":[1]}', true],
    ['{"a":', '{"_raw":"{\\"a\\":"}', true],
  ])('the input %j is sent as %s', (input, sent, changed) => {
    const { content, losses } = contentOf([
      user(text('a')),
      assistant({ ...call, input } as Part),
      user(result),
    ])
    expect(JSON.stringify(content[1]![0]!['input'])).toBe(sent)
    expect(losses).toEqual(changed ? ['messages'] : [])
  })

  test('ids of calls are made of letters that the upstream takes, in results too', () => {
    const id = 'functions.bash:0'
    const { content } = contentOf([
      user(text('a')),
      assistant({ ...call, id } as Part),
      user({ ...result, callId: id } as Part),
    ])
    expect(String(content[1]![0]!['id'])).toMatch(/^[a-zA-Z0-9_-]+$/)
    expect(content[2]![0]!['tool_use_id']).toBe(content[1]![0]!['id'])
  })

  test('documents are PDF or text', () => {
    const { content } = contentOf([
      user(
        { type: 'document', mimeType: 'application/pdf', data: 'AAAA', name: 'T' },
        { type: 'document', mimeType: 'text/csv', data: Buffer.from('a,b').toString('base64') },
        { type: 'document', url: 'https://a.example/x.pdf' },
      ),
    ])
    expect(content[0]).toEqual([
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
        title: 'T',
      },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' } },
      { type: 'document', source: { type: 'url', url: 'https://a.example/x.pdf' } },
    ])
  })

  test('instructions in between are folded or stay, as the channel says', () => {
    const turns: Turn[] = [
      user(text('a')),
      assistant(call),
      { role: 'system', parts: [text('be brief')] },
      user(result, text('b')),
    ]
    const folded = contentOf(turns)
    expect(folded.losses).toEqual(['messages'])
    expect(folded.content[2]!.map((block) => block['text'] ?? block['type'])).toEqual([
      'tool_result',
      '<system>\nbe brief\n</system>',
      'b',
    ])
    const kept = contentOf(turns, targetWith({ instructions: 'anywhere' }))
    expect(kept.losses).toEqual([])
    expect(kept.roles).toEqual(['user', 'assistant', 'user', 'system', 'user'])
  })

  test('reasoning goes back to its maker with its exact text, and to no other', () => {
    const seal = { realm: 'here', data: 'sig', text: 'exact' }
    const redacted = { realm: 'here', data: 'x', redacted: true } as const
    const parts: Part[] = [
      { type: 'reasoning', text: 'shown', seal },
      { type: 'reasoning', text: '', redacted: true, seal: redacted },
      { type: 'reasoning', text: 'unsigned' },
      text('b'),
    ]
    const { content, losses } = contentOf([user(text('a')), assistant(...parts), user(text('c'))])
    expect(content[1]).toEqual([
      { type: 'thinking', thinking: 'exact', signature: 'sig' },
      { type: 'redacted_thinking', data: 'x' },
      { type: 'text', text: 'b' },
    ])
    expect(losses).toEqual(['thinking.signature'])
    const elsewhere = contentOf(
      [user(text('a')), assistant(...parts), user(text('c'))],
      targetWith({}, { realm: 'there' }),
    )
    expect(elsewhere.content[1]).toEqual([{ type: 'text', text: 'b' }])
  })
})

describe('cache marks', () => {
  const marks = (request: Json) => JSON.stringify(request).split('"cache_control"').length - 1

  test('are at most four, the last ones', () => {
    const turns = [
      user(...[1, 2, 3, 4, 5].map((n): Part => ({ type: 'text', text: `${n}`, cache: {} }))),
    ]
    const { request, losses } = write({ turns, system: [{ type: 'text', text: 's', cache: {} }] })
    expect(losses).toEqual(['cache_control'])
    expect(marks(request)).toBe(4)
    expect(request['system']).toEqual([{ type: 'text', text: 's' }])
  })

  test('are added on the system prompt and the last turn where the channel says so', () => {
    const target = targetWith({ autoCache: true })
    const { request } = write({ system: [{ type: 'text', text: 's' }] }, target)
    expect(request).toMatchObject({
      system: [{ cache_control: { type: 'ephemeral' } }],
      messages: [{ content: [{ cache_control: { type: 'ephemeral' } }] }],
    })
    const own = write({ system: [{ type: 'text', text: 's', cache: {} }] }, target)
    expect(marks(own.request)).toBe(1)
  })

  test('never stand on thinking', () => {
    const seal = { realm: 'here', data: 'sig' }
    const target = targetWith({ autoCache: true })
    const turns = [
      user(text('a')),
      assistant({ type: 'reasoning', text: 'x', seal }, text('b')),
      user(text('c')),
    ]
    const { request } = write({ turns }, target)
    const [, answer] = request['messages'] as { content: Json[] }[]
    expect(answer!.content[0]).not.toHaveProperty('cache_control')
  })
})

describe('settings', () => {
  test.each<[string, Partial<Conversation>, Json, string[]]>([
    ['no limit is the one that is held', {}, { max_tokens: 32_000 }, []],
    ['a limit', { maxOutputTokens: 50 }, { max_tokens: 50 }, []],
    ['a limit above the hold', { maxOutputTokens: 99_000 }, { max_tokens: 32_000 }, ['max_tokens']],
    ['stop sequences', { stop: ['x', '\n'] }, { stop_sequences: ['x'] }, ['stop_sequences']],
    [
      'sampling',
      { sampling: { temperature: 1.5, topP: 0.5, topK: 3, seed: 1, presencePenalty: 1 } },
      { temperature: 1, top_p: 0.5, top_k: 3 },
      ['presence_penalty', 'seed', 'temperature'],
    ],
    [
      'effort',
      { effort: 'high', showReasoning: true },
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } },
      [],
    ],
    ['the least effort', { effort: 'minimal' }, { output_config: { effort: 'low' } }, ['thinking']],
    ['no effort', { effort: 'none' }, { thinking: { type: 'disabled' } }, []],
    [
      'sampling while it thinks',
      { effort: 'high', sampling: { temperature: 0.2, topP: 0.99, topK: 3 } },
      { top_p: 0.99 },
      ['temperature', 'top_k'],
    ],
    [
      'a forced tool excludes thinking',
      { effort: 'high', tools: [tool], toolChoice: { mode: 'required' } },
      { tool_choice: { type: 'any' } },
      ['thinking'],
    ],
    [
      'one call at a time',
      { tools: [tool], parallelCalls: false },
      { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      [],
    ],
    ['several calls', { tools: [tool], parallelCalls: true }, { tools: [{ name: 'f' }] }, []],
    [
      'a choice among some tools',
      {
        tools: [tool, { ...tool, name: 'g' }],
        toolChoice: { mode: 'allowed', names: ['g'], required: false },
      },
      { tools: [{ name: 'g' }], tool_choice: { type: 'auto' } },
      ['tool_choice'],
    ],
    [
      'a schema, without what is not enforced',
      {
        format: {
          kind: 'schema',
          schema: { type: 'object', properties: { n: { type: 'number', minimum: 3 } } },
        },
      },
      {
        output_config: {
          format: {
            type: 'json_schema',
            schema: {
              type: 'object',
              properties: { n: { type: 'number' } },
              additionalProperties: false,
            },
          },
        },
      },
      ['output_config.format'],
    ],
    ['hints of other styles', { cacheKey: 'k', verbosity: 'low', endUser: 'u' }, {}, []],
  ])('%s', (_, changes, expected, lost) => {
    const { request, losses } = write(changes)
    expect(request).toMatchObject(expected)
    expect(losses).toEqual(lost)
  })

  test('a strict tool stays strict where schemas are enforced', () => {
    const strict = {
      ...tool,
      strict: true,
      schema: { ...tool.schema, additionalProperties: false },
    }
    expect(write({ tools: [strict] })).toMatchObject({
      request: { tools: [{ strict: true }] },
      losses: [],
    })
    const { request, losses } = write({ tools: [strict] }, targetWith({ outputSchema: false }))
    expect(losses).toEqual(['tools.strict'])
    expect(JSON.stringify(request['tools'])).not.toContain('strict')
  })

  test('a schema for an upstream without one is a tool that has to be used', () => {
    const format = { kind: 'schema', schema: { type: 'object', properties: {} } } as const
    const target = targetWith({ outputSchema: false })
    const { request, losses, names } = write({ format, effort: 'high' }, target)
    expect(losses).toEqual(['output_config.format', 'thinking'])
    expect(request).toMatchObject({
      tools: [{ name: 'json_answer', input_schema: { type: 'object' } }],
      tool_choice: { type: 'tool', name: 'json_answer' },
    })
    expect(request).not.toHaveProperty('thinking')
    expect(names.answerTool).toBe('json_answer')
    expect(write({ format, tools: [tool] }, target).param).toBe('output_config.format')
  })

  test.each<[string, Partial<Conversation>, Json | undefined, string[]]>([
    ['a budget', { reasoningBudget: 3_000 }, { type: 'enabled', budget_tokens: 3_000 }, []],
    ['a word', { effort: 'high' }, { type: 'enabled', budget_tokens: 16_384 }, []],
    [
      'a budget that is too small',
      { reasoningBudget: 100 },
      { type: 'enabled', budget_tokens: 1_024 },
      ['thinking'],
    ],
    [
      'a budget above the limit',
      { reasoningBudget: 9_000, maxOutputTokens: 5_000 },
      { type: 'enabled', budget_tokens: 4_999 },
      ['thinking'],
    ],
    [
      'a limit with no room for thinking',
      { effort: 'high', maxOutputTokens: 1_024 },
      undefined,
      ['thinking'],
    ],
    [
      'a turn that goes on without its thinking',
      { effort: 'high', turns: [user(text('a')), assistant(call), user(result)] },
      undefined,
      ['thinking'],
    ],
  ])('%s for an upstream that thinks by budget', (_, changes, thinking, lost) => {
    const { request, losses } = write(changes, targetWith({ reasoning: 'budget' }))
    expect(request['thinking']).toEqual(thinking)
    expect(losses).toEqual(lost)
  })
})

test.each<[string, Partial<Conversation>, Parameters<typeof targetWith>[0]]>([
  ['n', { choices: 2 }, {}],
  ['logprobs', { logprobs: 1 }, {}],
  ['logit_bias', { logitBias: {} }, {}],
  ['messages', { turns: [user(text('a')), assistant(call)] }, {}],
  ['messages', { turns: [user(text(' '))] }, {}],
  ['messages.content', { turns: [user({ type: 'audio', data: 'A', mimeType: 'audio/wav' })] }, {}],
  ['messages.content', { turns: [user({ type: 'video', url: 'https://a.example' })] }, {}],
  [
    'messages.content.image',
    { turns: [user({ type: 'image', url: 'https://a.example' })] },
    { mediaUrls: false },
  ],
  [
    'messages.content.document',
    { turns: [user({ type: 'document', data: 'A', mimeType: 'application/zip' })] },
    {},
  ],
])('%s that cannot be carried is refused', (param, changes, settings) => {
  expect(write(changes, targetWith(settings)).param).toBe(param)
})

test('a strict channel refuses every change by name', () => {
  const strict = targetWith({}, { strict: true })
  expect(write({ sampling: { seed: 3 } }, strict).param).toBe('seed')
  expect(write({ stop: [' '] }, strict).param).toBe('stop_sequences')
  expect(write({ sampling: { topK: 3 } }, strict).param).toBeUndefined()
})
