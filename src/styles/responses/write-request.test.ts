// Conversations as responses requests: what is carried, what is changed and named, what is refused.
import { describe, expect, test } from 'bun:test'
import type { Conversation, Json, Part, Tool, Turn } from '../common/conversation.ts'
import { conversation, realm, target } from '../common/test-answers.ts'
import { roundTrip, writeRequest } from '../common/test-requests.ts'
import { responses } from './index.ts'

const write = (fields: Partial<Conversation>, to = target()) =>
  writeRequest(responses, conversation(fields), to)
const text = (value: string): Part => ({ type: 'text', text: value })
const user = (...parts: Part[]): Turn => ({ role: 'user', parts })
const assistant = (...parts: Part[]): Turn => ({ role: 'assistant', parts })
const toolCall = (id: string, more: object = {}): Part => ({
  type: 'call',
  id,
  name: 'f',
  freeForm: false,
  input: '{"a":1}',
  ...more,
})
const result = (callId: string, ...parts: Part[]): Part =>
  ({ type: 'result', callId, parts, isError: false }) as Part
const items = (fields: Partial<Conversation>, to = target()) =>
  write(fields, to).body['input'] as Json[]

describe('a request', () => {
  test('keeps nothing upstream and asks for sealed reasoning', () => {
    expect(write({}).body).toEqual({
      model: 'up-model',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
      include: ['reasoning.encrypted_content'],
      store: false,
    })
    expect(write({}, target({}, { stream: true })).body['stream']).toBe(true)
  })

  test('gives instructions to the developer role, in their place', () => {
    const written = items({
      system: [{ type: 'text', text: 'Be short.' }],
      turns: [user(text('Hi')), { role: 'system', parts: [text('Now.')] }, user(text('Go'))],
    })
    expect(written.map(({ role }) => role)).toEqual(['developer', 'user', 'developer', 'user'])
    expect(written.map(({ type }) => type)).toEqual(Array(4).fill('message'))
  })

  test('has the items of a turn in their order, without ids but that of sealed reasoning', () => {
    const seal = { realm, data: 'enc', itemId: 'rs_1' }
    const written = items({
      turns: [
        user(text('Hi')),
        assistant(
          { type: 'reasoning', text: 'Hm', seal },
          text('So.'),
          toolCall('c1'),
          toolCall('c2'),
        ),
        user(result('c2', text('two')), result('c1', text('one')), text('Go on')),
      ],
    })
    expect(written.slice(1)).toEqual([
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'enc' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'So.' }] },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
      { type: 'function_call', call_id: 'c2', name: 'f', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'c1', output: 'one' },
      { type: 'function_call_output', call_id: 'c2', output: 'two' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on' }] },
    ])
  })

  test.each<[string, Part]>([
    ['of another realm', { type: 'reasoning', text: 'Hm', seal: { realm: 'other', data: 'x' } }],
    ['without a seal', { type: 'reasoning', text: 'Hm' }],
  ])('never shows reasoning %s', (_, part) => {
    const { body, losses } = write({
      turns: [user(text('Hi')), assistant(part, text('So.')), user(text('Go'))],
    })
    expect(JSON.stringify(body)).not.toContain('Hm')
    expect(losses).toEqual(['reasoning'])
  })

  test('gives the result of a tool as text, or with its images', () => {
    const image: Part = { type: 'image', mimeType: 'image/png', data: 'AAAA' }
    const written = items({
      turns: [
        user(text('Hi')),
        assistant(toolCall('c1'), toolCall('c2')),
        user(result('c1', text('a'), text('b')), result('c2', text('see'), image)),
      ],
    })
    expect(written.slice(3)).toEqual([
      { type: 'function_call_output', call_id: 'c1', output: 'a\nb' },
      {
        type: 'function_call_output',
        call_id: 'c2',
        output: [
          { type: 'input_text', text: 'see' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
        ],
      },
    ])
  })

  test('marks the result of a tool that failed', () => {
    const failed = { ...result('c1', text('no file')), isError: true } as Part
    const turns = [user(text('Hi')), assistant(toolCall('c1')), user(failed)]
    const { body, losses } = write({ turns })
    expect((body['input'] as Json[])[2]).toMatchObject({ output: '[error] no file' })
    expect(losses).toEqual(['isError'])
  })

  test('names a choice that forces a call where there are no tools', () => {
    for (const toolChoice of [{ mode: 'required' }, { mode: 'tool', name: 'f' }] as const) {
      expect(write({ toolChoice }).losses).toEqual(['toolChoice'])
    }
    expect(write({ toolChoice: { mode: 'auto' } }).losses).toEqual([])
  })

  test('has short names and ids in calls, results, tools and choices alike', () => {
    const name = `mcp__${'server'.repeat(12)}__find`
    const id = `toolu_${'x'.repeat(80)}`
    const { body } = write({
      tools: [{ name, schema: {} }],
      toolChoice: { mode: 'tool', name },
      turns: [user(text('Hi')), assistant(toolCall(id, { name })), user(result(id, text('x')))],
    })
    const [, called, answered] = body['input'] as Json[]
    const [tool] = body['tools'] as Json[]
    expect(String(tool!['name'])).toMatch(responses.toolName)
    expect(called!['name']).toBe(tool!['name'])
    expect(body['tool_choice']).toEqual({ type: 'function', name: tool!['name'] })
    expect(String(called!['call_id'])).toMatch(/^[\w-]{1,64}$/)
    expect(answered!['call_id']).toBe(called!['call_id'])
  })
})

describe('tools', () => {
  const patch: Tool = {
    name: 'apply_patch',
    description: 'Patch',
    freeForm: { grammar: 'start: "a"', syntax: 'lark' },
  }
  const turns = [
    user(text('Hi')),
    assistant({ type: 'call', id: 'c1', name: 'apply_patch', freeForm: true, input: '*** "x"' }),
    user(result('c1', text('ok'))),
  ]

  test('with free text stay so where the upstream has them', () => {
    const { body, losses } = write({ tools: [patch], turns })
    expect(body['tools']).toEqual([
      {
        type: 'custom',
        name: 'apply_patch',
        description: 'Patch',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
      },
    ])
    expect((body['input'] as Json[]).slice(1)).toEqual([
      { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: '*** "x"' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'ok' },
    ])
    expect(losses).toEqual([])
  })

  test('with free text are functions elsewhere, with the grammar in words', () => {
    const { body, losses } = write({ tools: [patch], turns }, target({ freeFormTools: false }))
    const [tool] = body['tools'] as Json[]
    expect(tool).toMatchObject({ type: 'function', parameters: { required: ['input'] } })
    expect(tool!['description']).toContain('start: "a"')
    expect((body['input'] as Json[])[1]).toMatchObject({
      type: 'function_call',
      arguments: '{"input":"*** \\"x\\""}',
    })
    expect(losses).toEqual(['toolFreeForm'])
  })

  test.each<[string, Json | undefined, boolean | undefined, Json, string[]]>([
    [
      'no schema',
      undefined,
      undefined,
      { parameters: { type: 'object', properties: {} }, strict: false },
      [],
    ],
    [
      'a name of a dialect',
      { $schema: 'x', type: 'object', properties: { a: {} } },
      undefined,
      { parameters: { type: 'object', properties: { a: {} } }, strict: false },
      [],
    ],
    [
      'a loose schema',
      { type: 'object', properties: { a: {} } },
      true,
      { strict: false },
      ['toolStrict'],
    ],
    [
      'a strict schema',
      { type: 'object', properties: { a: {} }, required: ['a'], additionalProperties: false },
      true,
      { strict: true },
      [],
    ],
  ])('with %s are strict only if that works', (_, schema, strict, expected, names) => {
    const tool = { name: 'f', ...(schema && { schema }), ...(strict && { strict }) }
    const { body, losses } = write({ tools: [tool] })
    expect((body['tools'] as Json[])[0]).toMatchObject(expected)
    expect(JSON.stringify(body)).not.toContain('$schema')
    expect(losses).toEqual(names)
  })

  test('may be limited by the choice', () => {
    const { body } = write({
      tools: [{ name: 'f' }, patch],
      toolChoice: { mode: 'allowed', names: ['f', 'apply_patch'], required: true },
    })
    expect(body['tool_choice']).toEqual({
      type: 'allowed_tools',
      mode: 'required',
      tools: [
        { type: 'function', name: 'f' },
        { type: 'custom', name: 'apply_patch' },
      ],
    })
  })
})

describe('a field', () => {
  test.each<[Partial<Conversation>, Json]>([
    [{ maxOutputTokens: 100 }, { max_output_tokens: 100 }],
    [{ sampling: { temperature: 0, topP: 0.5 } }, { temperature: 0, top_p: 0.5 }],
    [{ effort: 'max', showReasoning: true }, { reasoning: { effort: 'max', summary: 'auto' } }],
    [{ format: { kind: 'json' } }, { text: { format: { type: 'json_object' } } }],
    [
      { format: { kind: 'schema', schema: { type: 'object' }, name: 'n' }, verbosity: 'low' },
      {
        text: {
          format: { type: 'json_schema', name: 'n', schema: { type: 'object' } },
          verbosity: 'low',
        },
      },
    ],
    [{ cacheKey: 'k' }, { prompt_cache_key: 'k' }],
  ])('%j is carried', (fields, expected) => {
    const { body, losses } = write(fields)
    expect(body).toMatchObject(expected)
    expect(losses).toEqual([])
  })

  test.each<[Partial<Conversation>, string[]]>([
    [
      { sampling: { topK: 1, seed: 2, presencePenalty: 1, frequencyPenalty: 1 } },
      ['frequencyPenalty', 'presencePenalty', 'seed', 'topK'],
    ],
    [{ maxOutputTokens: 99_999 }, ['maxOutputTokens']],
    [{ reasoningBudget: 2048 }, ['effort']],
    [{ format: { kind: 'schema', schema: { type: 'object' }, strict: true } }, ['format']],
    [{ tools: [{ name: 'f', cache: {} }] }, ['cache']],
    [{ turns: [user({ type: 'text', text: 'x', cache: { ttl: '1h' } })] }, ['cache.ttl']],
    [{ turns: [user({ type: 'document', text: 'plain' })] }, ['document']],
    [{ maxOutputTokens: 15 }, ['maxOutputTokens']],
  ])('%j is changed and named', (fields, names) => {
    expect(write(fields).losses).toEqual(names)
    expect(write(fields, target({}, { strict: true })).param).toBe(names[0]!)
  })

  test.each<[string, Partial<Conversation>, Partial<Parameters<typeof target>[0]>?]>([
    ['stop', { stop: ['x'] }],
    ['choices', { choices: 2 }],
    ['logitBias', { logitBias: {} }],
    ['logprobs', { logprobs: 0 }],
    ['audio', { turns: [user({ type: 'audio', data: 'x' })] }],
    ['video', { turns: [user({ type: 'video', url: 'https://a.example' })] }],
    ['document', { turns: [user({ type: 'document', data: 'x' })] }, { documents: false }],
    ['format', { format: { kind: 'schema', schema: {} } }, { outputSchema: false }],
    ['image', { turns: [user({ type: 'image', url: 'https://a.example' })] }, { mediaUrls: false }],
    ['turns', { turns: [user(text('Hi')), assistant(text('So'))] }],
    ['turns', { turns: [user(text('Hi')), assistant(toolCall('c1'))] }],
  ])('%s that has no counterpart is refused', (param, fields, settings = {}) => {
    expect(write(fields, target(settings)).param).toBe(param)
  })

  test('for the cache is on the last parts only, and only where the upstream has it', () => {
    const marked = (value: string): Part => ({ type: 'text', text: value, cache: {} })
    const turns = [user(...['a', 'b', 'c', 'd', 'e', 'f'].map(marked))]
    const { body, losses } = write({ turns })
    const [message] = body['input'] as { content: Json[] }[]
    const names = message!.content.filter((part) => part['prompt_cache_breakpoint'])
    expect(names.map((part) => part['text'])).toEqual(['c', 'd', 'e', 'f'])
    expect(losses).toEqual(['cache'])
    const elsewhere = write({ turns }, target({ cacheControl: false }))
    expect(JSON.stringify(elsewhere.body)).not.toContain('breakpoint')
    expect(elsewhere.losses).toEqual(['cache'])
  })
})

describe('a conversation that is written and read again', () => {
  const full: Partial<Conversation> = {
    system: [{ type: 'text', text: 'Be short.', cache: {} }],
    turns: [
      user(
        text('Hi'),
        { type: 'image', mimeType: 'image/png', data: 'AAAA', detail: 'low' },
        { type: 'document', mimeType: 'application/pdf', data: 'BBBB', name: 'a.pdf' },
      ),
      assistant(
        text('So.'),
        { type: 'refusal', text: 'No.' },
        toolCall('c1', { input: '{"n":12345678901234567890}' }),
        { type: 'call', id: 'c2', name: 'patch', freeForm: true, input: 'raw "text"' },
      ),
      user(
        result('c1', text('one')),
        result('c2', text('two'), { type: 'image', url: 'https://a.example' }),
      ),
      { role: 'system', parts: [text('Now in German.')] },
      user(text('Go')),
    ],
    tools: [
      { name: 'f', description: 'F', schema: { type: 'object', properties: {} }, strict: false },
      { name: 'patch', freeForm: { grammar: 'x', syntax: 'regex' } },
    ],
    toolChoice: { mode: 'allowed', names: ['f'], required: false },
    parallelCalls: true,
    maxOutputTokens: 100,
    sampling: { temperature: 1, topP: 1 },
    format: { kind: 'schema', schema: { type: 'object' }, name: 'n', description: 'd' },
    effort: 'high',
    showReasoning: true,
    wantsSeals: true,
    verbosity: 'low',
    cacheKey: 'k',
  }

  test('is the same when nothing was lost', () => {
    const given = conversation(full)
    const { fieldNames: _, ...same } = given
    const { conversation: read, losses } = roundTrip(responses, given)
    expect(losses).toEqual([])
    expect(read).toEqual(same)
  })

  test('has the same bytes every time', () => {
    const once = JSON.stringify(write(full).body)
    expect(JSON.stringify(write(structuredClone(full)).body)).toBe(once)
  })
})
