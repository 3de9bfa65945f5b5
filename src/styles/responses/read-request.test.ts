// Responses requests: what becomes of every field, item and part.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Json } from '../common/conversation.ts'
import { envelopes, realm } from '../common/test-answers.ts'
import { readRequest } from '../common/test-requests.ts'
import { responses } from './index.ts'

const anyJson = fc.jsonValue({ maxDepth: 2 })

const least = { model: 'm', input: 'Hello' }
const read = (fields: Json) => readRequest(responses, fields)
const items = (...input: Json[]) => read({ model: 'm', input })
const user = (text: string): Json => ({ role: 'user', content: text })
const text = (value: string) => ({ type: 'text', text: value })

describe('the turns of a request', () => {
  test('may be one text', () => {
    const { conversation, losses } = read(least)
    expect(conversation).toMatchObject({
      system: [],
      turns: [{ role: 'user', parts: [text('Hello')] }],
      tools: [],
      format: { kind: 'text' },
    })
    expect(losses).toEqual([])
  })

  test('begin after all leading instructions', () => {
    const { conversation } = read({
      instructions: 'One.',
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Two.' }] },
        { role: 'system', content: 'Three.' },
        user('Hi'),
        { type: '', role: 'developer', content: 'Now in German.' },
        user('Go on'),
      ],
    })
    expect(conversation.system).toEqual([text('One.'), text('Two.'), text('Three.')] as never)
    expect(conversation.turns.map(({ role }) => role)).toEqual(['user', 'system', 'user'])
  })

  test('of the assistant hold messages, reasoning and calls in their order', () => {
    const seal = { realm, data: 'sig', text: 'Exact thought.' }
    const { conversation, losses } = items(
      user('Hi'),
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Shown' }],
        encrypted_content: envelopes.wrap(seal),
      },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        phase: 'commentary',
        content: [{ type: 'output_text', text: 'Looking.', annotations: [] }],
      },
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'c1',
        name: 'find',
        namespace: 'docs',
        arguments: '',
      },
      { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: '*** Begin' },
      { type: 'function_call_output', call_id: 'c1', output: 'found' },
      {
        type: 'custom_tool_call_output',
        call_id: 'c2',
        output: [
          { type: 'input_text', text: 'Done' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
        ],
      },
    )
    expect(losses).toEqual([])
    expect(conversation.turns.slice(1)).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'Exact thought.', seal },
          { type: 'text', text: 'Looking.' },
          { type: 'call', id: 'c1', name: 'find', namespace: 'docs', freeForm: false, input: '{}' },
          { type: 'call', id: 'c2', name: 'apply_patch', freeForm: true, input: '*** Begin' },
        ],
      },
      {
        role: 'user',
        parts: [
          {
            type: 'result',
            callId: 'c1',
            parts: [{ type: 'text', text: 'found' }],
            isError: false,
          },
          {
            type: 'result',
            callId: 'c2',
            parts: [
              { type: 'text', text: 'Done' },
              { type: 'image', mimeType: 'image/png', data: 'AAAA' },
            ],
            isError: false,
          },
        ],
      },
    ])
  })

  test('lose a seal of another gateway, and keep the shown reasoning', () => {
    const { conversation, losses } = items(
      user('Hi'),
      {
        type: 'reasoning',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'Hm' }],
        encrypted_content: 'gAAAA',
      },
      { role: 'assistant', content: 'Hello' },
    )
    expect(conversation.turns[1]!.parts[0]).toEqual({ type: 'reasoning', text: 'Hm' })
    expect(losses).toEqual(['reasoning.encrypted_content'])
  })

  test.each<[Json, Json]>([
    [
      { type: 'input_image', image_url: 'https://a.example/x.png', detail: 'high' },
      { type: 'image', url: 'https://a.example/x.png', detail: 'high' },
    ],
    [
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
      { type: 'document', mimeType: 'application/pdf', data: 'AAAA', name: 'a.pdf' },
    ],
    [
      { type: 'input_file', file_url: 'https://a.example/a.pdf' },
      { type: 'document', url: 'https://a.example/a.pdf' },
    ],
    [
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
      { type: 'audio', mimeType: 'audio/mpeg', data: 'AAAA' },
    ],
    [
      { type: 'input_text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } },
      { type: 'text', text: 'x', cache: {} },
    ],
  ])('hold %j', (part, expected) => {
    const { conversation, losses } = items({ role: 'user', content: [part] })
    expect(conversation.turns[0]!.parts).toEqual([expected as never])
    expect(losses).toEqual([])
  })

  test('have no empty texts', () => {
    const { conversation } = items(
      user('Hi'),
      { role: 'assistant', content: [{ type: 'output_text', text: '' }] },
      user('Go on'),
    )
    expect(conversation.turns).toHaveLength(1)
  })

  test('may leave out the id of the only call that has no result', () => {
    const one = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' }
    const result = { type: 'function_call_output', output: 'x' }
    expect(items(user('Hi'), one, result).conversation.turns[2]!.parts[0]).toMatchObject({
      callId: 'c1',
    })
    expect(items(user('Hi'), one, { ...one, call_id: 'c2' }, result).param).toBe('input[3].call_id')
  })
})

describe('tools of a request', () => {
  const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "a"' }

  test('may be functions, free-form tools, members of a namespace and items', () => {
    const { conversation, losses } = read({
      tools: [
        {
          type: 'function',
          name: 'f',
          description: 'F',
          parameters: { type: 'object' },
          strict: true,
        },
        { type: 'custom', name: 'apply_patch', format: grammar },
        { type: 'namespace', name: 'docs', tools: [{ type: 'function', name: 'find' }] },
      ],
      input: [
        {
          type: 'additional_tools',
          role: 'developer',
          tools: [
            { type: 'function', name: 'f', description: 'Another' },
            { type: 'function', name: 'g', parameters: null },
          ],
        },
        user('Hi'),
      ],
    })
    expect(conversation.tools).toEqual([
      { name: 'f', description: 'F', schema: { type: 'object' }, strict: true },
      { name: 'apply_patch', freeForm: { grammar: 'start: "a"', syntax: 'lark' } },
      { name: 'find', namespace: 'docs', schema: {} },
      { name: 'g', schema: {} },
    ])
    expect(losses).toEqual([])
  })

  test.each<[unknown, unknown]>([
    ['auto', { mode: 'auto' }],
    ['required', { mode: 'required' }],
    [null, undefined],
    [
      { type: 'function', name: 'f' },
      { mode: 'tool', name: 'f' },
    ],
    [
      { type: 'custom', name: 'p' },
      { mode: 'tool', name: 'p' },
    ],
    [
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
      { mode: 'allowed', names: ['f'], required: true },
    ],
  ])('are chosen by %j', (tool_choice, expected) => {
    expect(read({ ...least, tool_choice }).conversation.toolChoice).toEqual(expected as never)
  })
})

describe('a field', () => {
  test.each<[Json, Json]>([
    [{ max_output_tokens: 9 }, { maxOutputTokens: 9 }],
    [{ temperature: 0.5, top_p: 0.9 }, { sampling: { temperature: 0.5, topP: 0.9 } }],
    [{ reasoning: { effort: 'low', summary: 'auto' } }, { effort: 'low', showReasoning: true }],
    [{ text: { verbosity: 'low' } }, { verbosity: 'low' }],
    [{ text: { format: { type: 'json_object' } } }, { format: { kind: 'json' } }],
    [
      { text: { format: { type: 'json_schema', name: 'n', schema: { a: 1 }, strict: true } } },
      { format: { kind: 'schema', name: 'n', schema: { a: 1 }, strict: true } },
    ],
    [{ parallel_tool_calls: false }, { parallelCalls: false }],
    [{ include: ['reasoning.encrypted_content'] }, { wantsSeals: true }],
    [
      { prompt_cache_key: 'k', user: 'u' },
      { cacheKey: 'k', endUser: 'u' },
    ],
    [{ include: ['message.output_text.logprobs'] }, { logprobs: 0 }],
    [{ top_logprobs: 3 }, { logprobs: 3 }],
  ])('%j is read', (fields, expected) => {
    const { conversation, losses } = read({ ...least, ...fields })
    expect(conversation).toMatchObject(expected)
    expect(losses).toEqual([])
  })

  test.each<[Json, string[]]>([
    [{ store: true }, ['store']],
    [{ store: false, metadata: {}, stream: true, truncation: 'disabled' }, []],
    [{ client_metadata: { a: 'b' }, service_tier: 'auto', max_tool_calls: 3 }, []],
    [{ context_management: [{ type: 'compaction' }] }, ['context_management']],
    [{ something_new: 1, other: null }, ['something_new']],
    [{ include: ['something.new'] }, ['include']],
    [{ include: ['web_search_call.action.sources'] }, []],
    [{ reasoning: { effort: 'ultra', context: 'x' } }, ['reasoning.effort']],
    [{ tools: [{ type: 'function', name: 'f', defer_loading: true }] }, ['tools.defer_loading']],
    [
      { tools: [{ type: 'namespace', name: 'n', description: 'N', tools: [] }] },
      ['tools.namespace.description'],
    ],
  ])('of %j that means nothing elsewhere is left out as %j', (fields, names) => {
    expect(read({ ...least, ...fields })).toMatchObject({ losses: names, param: undefined })
  })

  test.each<[string, Json]>([
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: { id: 'c' } }],
    ['prompt', { prompt: { id: 'p' } }],
    ['truncation', { truncation: 'auto' }],
    ['tools[0].type', { tools: [{ type: 'web_search' }] }],
    [
      'tools[0].tools[0].type',
      { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'mcp' }] }] },
    ],
    ['tool_choice.type', { tool_choice: { type: 'web_search' } }],
    ['input[0].type', { input: [{ type: 'item_reference', id: 'x' }] }],
    ['input[0].type', { input: [{ id: 'x' }] }],
    ['input[1].type', { input: [user('Hi'), { type: 'web_search_call', id: 'x' }] }],
    ['input[0].tools[0].type', { input: [{ type: 'additional_tools', tools: [{ type: 'mcp' }] }] }],
    ['input[0].content[0].type', { input: [{ role: 'user', content: [{ type: 'input_video' }] }] }],
    [
      'input[0].content[0].file_id',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] },
    ],
    [
      'input[0].content[0].file_id',
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
    ],
    ['input[0].role', { input: [{ role: 'critic', content: 'x' }] }],
    ['input[0].call_id', { input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }],
    ['input[0]', { input: ['x'] }],
    ['input', { input: [] }],
    ['input', { input: 5 }],
    ['text.format', { text: { format: { type: 'json_schema' } } }],
    ['temperature', { temperature: 'warm' }],
  ])('%s of another kind is refused by its name', (param, fields) => {
    expect(read({ ...least, ...fields }).param).toBe(param)
  })
})

describe('a search for tools that the caller runs', () => {
  const search = {
    type: 'tool_search',
    execution: 'client',
    description: 'Finds tools',
    parameters: { type: 'object', properties: { query: { type: 'string' } } },
  }
  const found = {
    type: 'namespace',
    name: 'docs',
    tools: [{ type: 'function', name: 'find', parameters: {}, defer_loading: true }],
  }
  const input = [
    user('Hi'),
    {
      type: 'tool_search_call',
      call_id: 'c1',
      execution: 'client',
      arguments: { query: 'docs' },
    },
    {
      type: 'tool_search_output',
      call_id: 'c1',
      execution: 'client',
      status: 'completed',
      tools: [found],
    },
  ]

  test('is a tool, and what it found can be called', () => {
    const { conversation, losses } = read({ model: 'm', input, tools: [search] })
    expect(conversation.tools).toEqual([
      {
        name: 'tool_search',
        search: true,
        description: 'Finds tools',
        schema: search.parameters,
      },
      { name: 'find', namespace: 'docs', schema: {} },
    ])
    expect(conversation.turns.slice(1)).toEqual([
      {
        role: 'assistant',
        parts: [
          {
            type: 'call',
            id: 'c1',
            name: 'tool_search',
            freeForm: false,
            input: '{"query":"docs"}',
          },
        ],
      },
      {
        role: 'user',
        parts: [
          {
            type: 'result',
            callId: 'c1',
            parts: [text('These tools can be called now: docs__find')],
            isError: false,
          },
        ],
      },
    ] as never)
    expect(losses).toEqual([])
  })

  test('that found nothing says so', () => {
    const { conversation } = read({ input: input.with(2, { ...input[2], tools: [] } as never) })
    expect(conversation.turns.at(-1)?.parts).toMatchObject([
      { parts: [text('No tool was found.')] },
    ] as never)
  })

  test('is refused where the upstream would run it', () => {
    expect(read({ ...least, tools: [{ type: 'tool_search' }] }).param).toBe('tools[0].type')
  })
})

test('a request as a coding tool sends it has no field that is not known', () => {
  const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: begin hunk+ end' }
  const { conversation, losses, param } = read({
    model: 'm',
    instructions: 'You are a coding agent.',
    input: [
      {
        type: 'message',
        role: 'developer',
        content: [{ type: 'input_text', text: '<permissions>' }],
      },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: '<environment>' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Fix it' }] },
      { type: 'reasoning', summary: [], content: null, encrypted_content: null },
      {
        type: 'function_call',
        name: 'exec_command',
        arguments: '{"cmd":"ls"}',
        call_id: 'call_1',
      },
      { type: 'function_call_output', call_id: 'call_1', output: 'a.ts' },
      { type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin', call_id: 'call_2' },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: 'Done' },
    ],
    tools: [
      { type: 'function', name: 'exec_command', description: 'x', strict: false, parameters: {} },
      { type: 'custom', name: 'apply_patch', description: 'x', format: grammar },
      {
        type: 'namespace',
        name: 'mcp__docs',
        tools: [{ type: 'function', name: 'find', strict: false, parameters: {} }],
      },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { effort: 'medium', summary: 'auto', context: 'all_turns' },
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: 'thread',
    text: { verbosity: 'low' },
    client_metadata: { turn: '1' },
    service_tier: null,
  })
  expect([param, losses]).toEqual([undefined, []])
  expect(conversation.turns.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'user',
    'assistant',
    'user',
  ])
})

test('any request is read or refused', () => {
  const names = ['input', 'tools', 'tool_choice', 'text', 'reasoning', 'include', 'instructions']
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), anyJson), (fields) => {
      read({ ...least, ...fields } as Json)
    }),
  )
  const item = fc.dictionary(
    fc.constantFrom('type', 'role', 'content', 'call_id', 'name', 'output', 'summary', 'tools'),
    fc.oneof(anyJson, fc.constantFrom('message', 'function_call', 'reasoning', 'user')),
  )
  fc.assert(fc.property(fc.array(item), (input) => void read({ ...least, input } as Json)))
})
