// Conversations as generate requests: what is carried, what is changed and named, what is refused.
import { describe, expect, test } from 'bun:test'
import type { Conversation, Json, Part, Turn } from '../common/conversation.ts'
import { conversation, realm, target } from '../common/test-answers.ts'
import { roundTrip, writeRequest } from '../common/test-requests.ts'
import { generate } from './index.ts'

const write = (fields: Partial<Conversation>, to = target()) =>
  writeRequest(generate, conversation(fields), to)
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
const contents = (fields: Partial<Conversation>, to = target()) =>
  write(fields, to).body['contents'] as { role: string; parts: Json[] }[]
const noSeal = 'skip_thought_signature_validator'

describe('a request', () => {
  test('has contents, and instructions before them', () => {
    expect(write({ system: [{ type: 'text', text: 'Be short.' }] })).toEqual({
      body: {
        contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
        systemInstruction: { parts: [{ text: 'Be short.' }] },
      },
      losses: [],
      param: undefined,
    })
  })

  test('names a choice that forces a call where there are no tools', () => {
    for (const toolChoice of [{ mode: 'required' }, { mode: 'tool', name: 'f' }] as const) {
      expect(write({ toolChoice }).losses).toEqual(['toolChoice'])
    }
    expect(write({ toolChoice: { mode: 'auto' } }).losses).toEqual([])
  })

  test('has results right behind their calls, with the names of the tools', () => {
    const turns = [
      user(text('Hi')),
      assistant(text('So.'), toolCall('c1'), toolCall('c2', { name: 'g', input: '' })),
      user(text('And?'), result('c2', text('two')), result('c1', text('one'))),
    ]
    expect(contents({ turns }).slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { text: 'So.' },
          { functionCall: { id: 'c1', name: 'f', args: { a: 1 } }, thoughtSignature: noSeal },
          { functionCall: { id: 'c2', name: 'g', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'f', response: { result: 'one' } } },
          { functionResponse: { id: 'c2', name: 'g', response: { result: 'two' } } },
          { text: 'And?' },
        ],
      },
    ])
  })

  test('gives each upstream its own seals only, and to the call they were made for', () => {
    const own = { realm, data: 'sig==' }
    const turns = (seal: object) => [
      user(text('Hi')),
      assistant(toolCall('c1', { seal }), toolCall('c2')),
      user(result('c1', text('one')), result('c2', text('two'))),
    ]
    expect(contents({ turns: turns(own) })[1]!.parts).toMatchObject([
      { functionCall: { id: 'c1' }, thoughtSignature: 'sig==' },
      { functionCall: { id: 'c2' } },
    ])
    expect(contents({ turns: turns(own) })[1]!.parts[1]).not.toHaveProperty('thoughtSignature')
    const other = write({ turns: turns({ ...own, realm: 'other' }) })
    expect(JSON.stringify(other.body)).not.toContain('sig==')
    expect((other.body['contents'] as { parts: Json[] }[])[1]!.parts[0]).toMatchObject({
      thoughtSignature: noSeal,
    })
    expect(other.losses).toEqual(['reasoning'])
  })

  test('gives sealed reasoning back that belongs to no call', () => {
    const seal = { realm, data: 'sig==' }
    const turns = [
      user(text('Hi')),
      assistant({ type: 'reasoning', text: 'Hm', seal }, text('So.')),
      user(text('Go')),
    ]
    expect(contents({ turns })[1]!.parts).toEqual([
      { text: 'Hm', thought: true, thoughtSignature: 'sig==' },
      { text: 'So.' },
    ])
  })

  test('has images of results inside of them, or beside them', () => {
    const image: Part = { type: 'image', mimeType: 'image/png', data: 'AAAA' }
    const turns = [
      user(text('Hi')),
      assistant(toolCall('c1')),
      user(result('c1', text('see'), image)),
    ]
    const inlineData = { mimeType: 'image/png', data: 'AAAA' }
    const response = { id: 'c1', name: 'f', response: { result: 'see' } }
    expect(contents({ turns })[2]!.parts).toEqual([
      { functionResponse: { ...response, parts: [{ inlineData }] } },
    ])
    const older = write({ turns }, target({ mediaInResults: false }))
    expect((older.body['contents'] as { parts: Json[] }[])[2]!.parts).toEqual([
      { functionResponse: response },
      { inlineData },
    ])
    expect(older.losses).toEqual(['result'])
  })

  test('never reads the text of a result as JSON', () => {
    const content = '{\n  "$ref": "#/a"\n}'
    const turns = [user(text('Hi')), assistant(toolCall('c1')), user(result('c1', text(content)))]
    expect(contents({ turns })[2]!.parts[0]).toMatchObject({
      functionResponse: { response: { result: content } },
    })
  })

  test('says that a result is an error', () => {
    const failed = { ...result('c1', text('no')), isError: true } as Part
    const { body, losses } = write({
      turns: [user(text('Hi')), assistant(toolCall('c1')), user(failed)],
    })
    expect(JSON.stringify(body)).toContain('"response":{"error":"no"}')
    expect(losses).toEqual([])
  })

  test('keeps numbers and the order of fields in arguments', () => {
    const input = '{"z":12345678901234567890,"a":1.0}'
    const turns = [
      user(text('Hi')),
      assistant(toolCall('c1', { input })),
      user(result('c1', text('x'))),
    ]
    expect(JSON.stringify(write({ turns }).body)).toContain('{"z":12345678901234567890,"a":1')
  })

  test('puts instructions between turns behind the results of the next turn', () => {
    const turns: Turn[] = [
      user(text('Hi')),
      assistant(toolCall('c1')),
      user(result('c1', text('x'))),
      { role: 'system', parts: [text('Now.')] },
      user(text('Go')),
    ]
    const { body, losses } = write({ turns })
    const last = (body['contents'] as { parts: Json[] }[]).at(-1)!
    expect(last.parts).toMatchObject([
      { functionResponse: {} },
      { text: '<system>\nNow.\n</system>' },
      { text: 'Go' },
    ])
    expect(losses).toEqual(['turns'])
  })

  test('begins with the user', () => {
    const { body, losses } = write({ turns: [assistant(text('Hello!')), user(text('Hi'))] })
    expect((body['contents'] as { role: string }[]).map(({ role }) => role)).toEqual([
      'user',
      'model',
      'user',
    ])
    expect(losses).toEqual(['turns'])
  })
})

describe('tools', () => {
  test('have schemas that the upstream can read', () => {
    const schema = {
      $schema: 'x',
      type: 'object',
      properties: {
        properties: { type: ['string', 'null'], const: 'a' },
        list: { type: 'array' },
        node: { $ref: '#/$defs/node', description: 'A node' },
      },
      $defs: { node: { type: 'object', properties: { next: { type: 'string' } } } },
    }
    const { body, losses } = write({ tools: [{ name: 'f', description: 'F', schema }] })
    expect(body['tools']).toEqual([
      {
        functionDeclarations: [
          {
            name: 'f',
            description: 'F',
            parametersJsonSchema: {
              type: 'object',
              properties: {
                properties: { type: 'string', nullable: true, enum: ['a'] },
                list: { type: 'array', items: {} },
                node: {
                  type: 'object',
                  properties: { next: { type: 'string' } },
                  description: 'A node',
                },
              },
            },
          },
        ],
      },
    ])
    expect(losses).toEqual([])
  })

  test('with free text are functions, and their calls are wrapped', () => {
    const { body, losses } = write({
      tools: [{ name: 'patch', freeForm: { grammar: 'start: "a"' } }],
      turns: [
        user(text('Hi')),
        assistant(toolCall('c1', { name: 'patch', freeForm: true, input: 'raw' })),
        user(result('c1', text('x'))),
      ],
    })
    expect(JSON.stringify(body)).toContain('"args":{"input":"raw"}')
    expect(JSON.stringify(body)).toContain('start: \\"a\\"')
    expect(losses).toEqual(['toolFreeForm'])
  })

  test.each<[Conversation['toolChoice'], unknown, string[]]>([
    [undefined, undefined, []],
    [{ mode: 'auto' }, { mode: 'AUTO' }, []],
    [{ mode: 'none' }, { mode: 'NONE' }, []],
    [{ mode: 'required' }, { mode: 'ANY' }, []],
    [{ mode: 'tool', name: 'f' }, { mode: 'ANY', allowedFunctionNames: ['f'] }, []],
    [
      { mode: 'allowed', names: ['f'], required: true },
      { mode: 'ANY', allowedFunctionNames: ['f'] },
      [],
    ],
    [{ mode: 'allowed', names: ['f'], required: false }, { mode: 'AUTO' }, ['toolChoice']],
  ])('are chosen by %j', (toolChoice, expected, names) => {
    const tools = [{ name: 'f' }, { name: 'g' }]
    const { body, losses } = write({ tools, ...(toolChoice && { toolChoice }) })
    const config = body['toolConfig'] as Json | undefined
    expect(config?.['functionCallingConfig']).toEqual(expected as never)
    expect(losses).toEqual(names)
  })

  test('have names that begin with a letter', () => {
    const { body } = write({ tools: [{ name: '2nd.tool' }] })
    const [declared] = (body['tools'] as { functionDeclarations: Json[] }[])[0]!
      .functionDeclarations
    expect(String(declared!['name'])).toMatch(generate.toolName)
  })
})

describe('a field', () => {
  const generationConfig = (fields: Partial<Conversation>, settings = {}) =>
    write(fields, target(settings)).body['generationConfig']

  test.each<[Partial<Conversation>, Json]>([
    [
      { maxOutputTokens: 9, stop: ['x'] },
      { maxOutputTokens: 9, stopSequences: ['x'] },
    ],
    [
      {
        sampling: {
          temperature: 0,
          topP: 1,
          topK: 2,
          seed: 3,
          presencePenalty: 4,
          frequencyPenalty: 5,
        },
      },
      { temperature: 0, topP: 1, topK: 2, seed: 3, presencePenalty: 4, frequencyPenalty: 5 },
    ],
    [{ format: { kind: 'json' } }, { responseMimeType: 'application/json' }],
    [
      { format: { kind: 'schema', schema: { type: 'object' }, strict: true, name: 'n' } },
      { responseMimeType: 'application/json', responseJsonSchema: { type: 'object' } },
    ],
    [
      { effort: 'low', showReasoning: true },
      { thinkingConfig: { includeThoughts: true, thinkingLevel: 'LOW' } },
    ],
  ])('%j is carried', (fields, expected) => {
    expect(generationConfig(fields)).toEqual(expected)
    expect(write(fields).losses).toEqual([])
  })

  test.each([
    ['none', 'MINIMAL', 0, ['effort']],
    ['minimal', 'MINIMAL', 1024, []],
    ['medium', 'MEDIUM', 8192, []],
    ['high', 'HIGH', 16384, []],
    ['xhigh', 'HIGH', 24576, ['effort']],
    ['max', 'HIGH', 32768, ['effort']],
  ] as const)('of the effort %s is a level or a budget', (effort, level, budget, names) => {
    expect(generationConfig({ effort })).toEqual({ thinkingConfig: { thinkingLevel: level } })
    expect(write({ effort }).losses).toEqual([...names])
    expect(generationConfig({ effort }, { reasoning: 'budget' })).toEqual({
      thinkingConfig: { thinkingBudget: budget },
    })
    const silent = write({ effort }, target({ reasoning: 'none' }))
    expect(silent.losses).toEqual(effort === 'none' ? [] : ['effort'])
  })

  test.each<[Partial<Conversation>, string[]]>([
    [{ tools: [{ name: 'f' }], parallelCalls: false }, ['parallelCalls']],
    [{ tools: [{ name: 'f', strict: true }] }, ['toolStrict']],
    [{ tools: [{ name: 'f', cache: {} }] }, ['cache']],
    [{ turns: [user({ type: 'text', text: 'x', cache: {} })] }, ['cache']],
    [{ system: [{ type: 'text', text: 'x', cache: {} }] }, ['cache']],
    [{ maxOutputTokens: 99_999 }, ['maxOutputTokens']],
    [{ reasoningBudget: 2048 }, ['effort']],
  ])('%j is changed and named', (fields, names) => {
    expect(write(fields).losses).toEqual(names)
    expect(write(fields, target({}, { strict: true })).param).toBe(names[0]!)
  })

  test.each<[string, Partial<Conversation>, object?]>([
    ['choices', { choices: 2 }],
    ['logitBias', { logitBias: {} }],
    ['logprobs', { logprobs: 2 }],
    ['stop', { stop: ['1', '2', '3', '4', '5', '6'] }],
    ['turns', { turns: [user(text('Hi')), assistant(text('So'))] }],
    ['document', { turns: [user({ type: 'document', data: 'x' })] }, { documents: false }],
    [
      'document',
      { turns: [user({ type: 'document', data: 'x', mimeType: 'application/msword' })] },
    ],
    ['format', { format: { kind: 'schema', schema: {} } }, { outputSchema: false }],
    ['image', { turns: [user({ type: 'image', url: 'https://a.example' })] }, { mediaUrls: false }],
  ])('%s that has no counterpart is refused', (param, fields, settings = {}) => {
    expect(write(fields, target(settings)).param).toBe(param)
  })
})

describe('a conversation that is written and read again', () => {
  const full: Partial<Conversation> = {
    system: [{ type: 'text', text: 'Be short.' }],
    turns: [
      user(
        text('Hi'),
        { type: 'image', mimeType: 'image/png', data: 'AAAA' },
        { type: 'document', mimeType: 'application/pdf', data: 'BBBB' },
        { type: 'audio', mimeType: 'audio/wav', data: 'CCCC' },
        { type: 'video', mimeType: 'video/mp4', url: 'https://a.example/v.mp4' },
      ),
      assistant(text('So.'), toolCall('c1', { input: '{"n":12345678901234567890}' })),
      user({ ...result('c1', text('one')), name: 'f', isError: true } as Part, text('Go')),
    ],
    tools: [{ name: 'f', description: 'F', schema: { type: 'object', properties: {} } }],
    toolChoice: { mode: 'tool', name: 'f' },
    maxOutputTokens: 100,
    stop: ['x'],
    sampling: { temperature: 1, topP: 1, topK: 2, seed: 5 },
    format: { kind: 'schema', schema: { type: 'object' }, strict: true },
    effort: 'high',
    showReasoning: true,
    wantsSeals: true,
  }

  test('is the same when nothing was lost', () => {
    const given = conversation(full)
    const { fieldNames: _, ...same } = given
    const { conversation: read, losses } = roundTrip(generate, given)
    expect(losses).toEqual([])
    expect(read).toEqual(same)
  })

  test('has the same bytes every time', () => {
    const once = JSON.stringify(write(full).body)
    expect(JSON.stringify(write(structuredClone(full)).body)).toBe(once)
  })
})
