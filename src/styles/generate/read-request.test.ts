// Generate requests: what becomes of every field, content and part.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Json } from '../common/conversation.ts'
import { envelopes, realm } from '../common/test-answers.ts'
import { readRequest } from '../common/test-requests.ts'
import { generate } from './index.ts'

const anyJson = fc.jsonValue({ maxDepth: 2 })

const user = (...parts: Json[]): Json => ({ role: 'user', parts })
const model = (...parts: Json[]): Json => ({ role: 'model', parts })
const hello = user({ text: 'Hello' })
const read = (fields: Json) => readRequest(generate, { contents: [hello], ...fields })
const turns = (...contents: Json[]) => read({ contents }).conversation.turns
const config = (generationConfig: Json) => read({ generationConfig })

describe('the turns of a request', () => {
  test('have text, and instructions before them', () => {
    const { conversation, losses } = read({
      systemInstruction: { role: 'user', parts: [{ text: 'Be short.' }, { text: '' }] },
    })
    expect(conversation).toMatchObject({
      system: [{ type: 'text', text: 'Be short.' }],
      turns: [{ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
      wantsSeals: true,
      showReasoning: false,
    })
    expect(losses).toEqual([])
    expect(read({ system_instruction: 'Be short.' }).conversation.system).toHaveLength(1)
  })

  test('of one role are one', () => {
    expect(turns(hello, user({ text: 'Again' }), model({ text: 'Hi' }), hello)).toHaveLength(3)
  })

  test.each<[Json, Json]>([
    [
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    ],
    [
      { inline_data: { mime_type: 'application/pdf', data: 'AAAA' } },
      { type: 'document', mimeType: 'application/pdf', data: 'AAAA' },
    ],
    [
      { inlineData: { mimeType: 'audio/wav', data: 'AAAA' } },
      { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
    ],
    [
      { fileData: { mimeType: 'video/mp4', fileUri: 'https://a.example/v' } },
      { type: 'video', mimeType: 'video/mp4', url: 'https://a.example/v' },
    ],
  ])('hold %j', (part, expected) => {
    expect(turns(user(part))[0]!.parts).toEqual([expected as never])
  })

  test('pair results with calls by id, by name, then by order', () => {
    const called = (name: string, id?: string) => ({ functionCall: { name, args: { a: 1 }, id } })
    const result = (name: string, output: string, id?: string) => ({
      functionResponse: { name, response: { output }, id },
    })
    const [, assistant, results] = turns(
      hello,
      model(called('f'), called('g'), called('f'), called('h', 'mine')),
      {
        role: 'function',
        parts: [
          result('g', '2'),
          result('f', '1', 'made-up'),
          result('h', '4', 'mine'),
          result('f', '3'),
        ],
      },
    )
    const ids = assistant!.parts.map((part) => (part.type === 'call' ? part.id : ''))
    expect(new Set(ids).size).toBe(4)
    const given = results!.parts.map((part) =>
      part.type === 'result' ? [part.callId, part.parts[0]] : [],
    )
    const expected = ['2', '1', '4', '3'].map((text) => [
      ids[Number(text) - 1],
      { type: 'text', text },
    ])
    expect<unknown>(given).toEqual(expected)
  })

  test.each<[Json, Json]>([
    [{ result: 'x' }, { parts: [{ type: 'text', text: 'x' }], isError: false }],
    [{ output: 'x' }, { parts: [{ type: 'text', text: 'x' }], isError: false }],
    [{ error: 'x' }, { parts: [{ type: 'text', text: 'x' }], isError: true }],
    [{ error: { code: 1 } }, { parts: [{ type: 'text', text: '{"code":1}' }], isError: true }],
    [{ output: 1 }, { parts: [{ type: 'text', text: '{"output":1}' }], isError: false }],
    [
      { a: 1, error: 'x' },
      { parts: [{ type: 'text', text: '{"a":1,"error":"x"}' }], isError: false },
    ],
    [
      { name: 'f', content: 'x' },
      { parts: [{ type: 'text', text: 'x' }], isError: false },
    ],
    [
      { name: 'g', content: 'x' },
      { parts: [{ type: 'text', text: '{"name":"g","content":"x"}' }], isError: false },
    ],
    [{}, { parts: [], isError: false }],
  ])('have the result %j', (response, expected) => {
    const [, , results] = turns(
      hello,
      model({ functionCall: { name: 'f' } }),
      user({ functionResponse: { name: 'f', response } }),
    )
    expect(results!.parts[0]).toMatchObject(expected)
  })

  test('hold images of results', () => {
    const parts = [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }]
    const [, , results] = turns(
      hello,
      model({ functionCall: { name: 'f' } }),
      user({ functionResponse: { name: 'f', response: {}, parts } }),
    )
    expect(results!.parts[0]).toMatchObject({
      parts: [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }],
    })
  })

  test('have sealed reasoning before the part that carries its seal', () => {
    const seal = { realm, data: 'sig', text: 'Exact thought.' }
    const thoughtSignature = envelopes.wrap(seal)
    const call = { functionCall: { name: 'f', id: 'c1' }, thoughtSignature }
    const sealed = { type: 'reasoning', text: 'Exact thought.', seal }
    const types = (...parts: Json[]) => turns(hello, model(...parts))[1]!.parts
    expect(types(call)).toMatchObject([sealed, { type: 'call', id: 'c1' }])
    expect(types({ text: 'shown', thought: true }, call)).toMatchObject([sealed, { type: 'call' }])
    expect(types({ text: 'Hi', thoughtSignature })).toMatchObject([sealed, { type: 'text' }])
    expect(types({ text: '', thoughtSignature })).toMatchObject([sealed])
  })

  test('of the model that come back piece by piece are one text each', () => {
    const [, assistant] = turns(
      hello,
      model({ text: 'Let me', thought: true }),
      model({ text: ' see.', thought: true }),
      model({ text: 'I ' }),
      model({ text: 'look.' }, { text: '' }),
    )
    expect(assistant!.parts).toEqual([
      { type: 'reasoning', text: 'Let me see.' },
      { type: 'text', text: 'I look.' },
    ])
    expect(turns(user({ text: 'a' }, { text: 'b' }))[0]!.parts).toHaveLength(2)
  })

  test('lose seals of other gateways by name, and the mark for none in silence', () => {
    const sealed = (thoughtSignature: string) =>
      read({ contents: [hello, model({ functionCall: { name: 'f' }, thoughtSignature }), hello] })
    expect(sealed('CiQB').losses).toEqual(['contents.parts.thoughtSignature'])
    expect(sealed('skip_thought_signature_validator').losses).toEqual([])
  })

  test('keep numbers as they were written', () => {
    const body =
      '{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{"n":12345678901234567890}}}]}]}'
    const { conversation } = readRequest(generate, JSON.parse(body, exact) as Json)
    expect(conversation.turns[0]!.parts[0]).toMatchObject({ input: '{"n":12345678901234567890}' })
  })
})

/** As a body is parsed. */
const exact = (_: string, value: unknown, at?: { source: string }) =>
  typeof value === 'number'
    ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(at!.source)
    : value

describe('tools of a request', () => {
  test('have schemas of either dialect', () => {
    const parameters = {
      type: 'OBJECT',
      properties: { type: { type: 'STRING', nullable: true }, n: { type: 'ARRAY', minItems: '1' } },
      propertyOrdering: ['type'],
    }
    const parametersJsonSchema = { type: 'object', additionalProperties: false }
    const { conversation, losses } = read({
      tools: [
        { functionDeclarations: [{ name: 'f', description: 'F', parameters }] },
        { function_declarations: [{ name: 'g', parametersJsonSchema }, { name: 'h' }] },
      ],
    })
    expect(conversation.tools).toEqual([
      {
        name: 'f',
        description: 'F',
        schema: {
          type: 'object',
          properties: { type: { type: ['string', 'null'] }, n: { type: 'array', minItems: 1 } },
        },
      },
      { name: 'g', schema: parametersJsonSchema },
      { name: 'h', schema: {} },
    ])
    expect(losses).toEqual([])
  })

  test.each<[Json, unknown]>([
    [{ mode: 'AUTO' }, { mode: 'auto' }],
    [{ mode: 'NONE' }, { mode: 'none' }],
    [{ mode: 'ANY' }, { mode: 'required' }],
    [
      { mode: 'ANY', allowedFunctionNames: ['f'] },
      { mode: 'tool', name: 'f' },
    ],
    [
      { mode: 'ANY', allowed_function_names: ['f', 'g'] },
      { mode: 'allowed', names: ['f', 'g'], required: true },
    ],
    [
      { mode: 'AUTO', allowedFunctionNames: ['f'] },
      { mode: 'allowed', names: ['f'], required: false },
    ],
  ])('are chosen by %j', (functionCallingConfig, expected) => {
    const { conversation } = read({ toolConfig: { functionCallingConfig } })
    expect(conversation.toolChoice).toEqual(expected as never)
  })
})

describe('a field', () => {
  test.each<[Json, Json]>([
    [
      { maxOutputTokens: 9, stopSequences: ['x'] },
      { maxOutputTokens: 9, stop: ['x'] },
    ],
    [
      { temperature: 0, top_p: 0.5, topK: 3, seed: 1 },
      { sampling: { temperature: 0, topP: 0.5, topK: 3, seed: 1 } },
    ],
    [
      { presencePenalty: 1, frequencyPenalty: 2 },
      { sampling: { presencePenalty: 1, frequencyPenalty: 2 } },
    ],
    [{ candidateCount: 2 }, { choices: 2 }],
    [{ responseMimeType: 'application/json' }, { format: { kind: 'json' } }],
    [
      { responseMimeType: 'application/json', responseSchema: { type: 'STRING' } },
      { format: { kind: 'schema', schema: { type: 'string' }, strict: true } },
    ],
    [
      { response_mime_type: 'application/json', response_json_schema: { type: 'string' } },
      { format: { kind: 'schema', schema: { type: 'string' }, strict: true } },
    ],
    [
      { thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true } },
      { effort: 'low', showReasoning: true },
    ],
    [{ thinkingConfig: { thinkingBudget: 0 } }, { effort: 'none' }],
    [{ thinkingConfig: { thinkingBudget: 2048 } }, { reasoningBudget: 2048 }],
    [{ responseLogprobs: true }, { logprobs: 0 }],
  ])('of the configuration %j is read', (fields, expected) => {
    const { conversation, losses } = config(fields)
    expect(conversation).toMatchObject(expected)
    expect(losses).toEqual([])
  })

  test('with a budget that the model chooses is the default', () => {
    const { conversation } = config({ thinkingConfig: { thinkingBudget: -1 } })
    expect(conversation).not.toHaveProperty('effort')
    expect(conversation).not.toHaveProperty('reasoningBudget')
  })

  test.each<[Json, string[]]>([
    [{ safetySettings: [{}], labels: { a: 'b' }, model: 'm' }, []],
    [{ somethingNew: 1 }, ['somethingNew']],
    [
      { generationConfig: { speechConfig: { languageCode: 'de' } } },
      ['generationConfig.speechConfig'],
    ],
    [{ generationConfig: { mediaResolution: 'LOW' } }, []],
    [{ toolConfig: { retrievalConfig: { languageCode: 'de' } } }, ['toolConfig.retrievalConfig']],
    [
      { toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } } },
      ['toolConfig.functionCallingConfig.mode'],
    ],
    [
      { tools: [{ functionDeclarations: [{ name: 'f', response: { type: 'OBJECT' } }] }] },
      ['tools.functionDeclarations.response'],
    ],
  ])('of %j that means nothing elsewhere is left out as %j', (fields, names) => {
    expect(read(fields)).toMatchObject({ losses: names, param: undefined })
  })

  test.each<[string, Json]>([
    ['cachedContent', { cachedContent: 'cachedContents/1' }],
    ['tools[0].googleSearch', { tools: [{ googleSearch: {} }] }],
    ['tools[1].codeExecution', { tools: [{ functionDeclarations: [] }, { code_execution: {} }] }],
    [
      'generationConfig.responseModalities',
      { generationConfig: { responseModalities: ['IMAGE'] } },
    ],
    [
      'generationConfig.responseMimeType',
      { generationConfig: { responseMimeType: 'text/x.enum' } },
    ],
    ['generationConfig.temperature', { generationConfig: { temperature: 'warm' } }],
    ['contents', { contents: [] }],
    ['contents', { contents: undefined }],
    ['contents[0]', { contents: [5] }],
    ['contents[0].role', { contents: [{ role: 'critic', parts: [] }] }],
    ['contents[0].parts[0].executableCode', { contents: [model({ executableCode: {} })] }],
    [
      'contents[0].parts[0].fileData.fileUri',
      { contents: [user({ fileData: { fileUri: 'https://up.example/v1beta/files/abc' } })] },
    ],
    [
      'contents[0].parts[0].fileData.fileUri',
      { contents: [user({ fileData: { fileUri: 'gs://bucket/file' } })] },
    ],
    [
      'contents[0].parts[0].functionResponse.id',
      { contents: [user({ functionResponse: { name: 'f' } })] },
    ],
    ['systemInstruction.parts[0]', { systemInstruction: { parts: [{ inlineData: {} }] } }],
  ])('%s of another kind is refused by its name', (param, fields) => {
    expect(read(fields).param).toBe(param)
  })
})

test('a request as a coding tool sends it has no field that is not known', () => {
  const { conversation, losses, param } = read({
    contents: [
      user({ text: 'Setup' }),
      model({ text: 'Got it.' }),
      user({ text: 'Read a.ts' }),
      model(
        { text: '**Thinking**', thought: true },
        {
          functionCall: { name: 'read_file', args: { path: 'a.ts' } },
          thoughtSignature: 'skip_thought_signature_validator',
        },
      ),
      user({
        functionResponse: { id: 'read_file-1-2', name: 'read_file', response: { output: 'x' } },
      }),
    ],
    systemInstruction: { role: 'user', parts: [{ text: 'You are a coding agent.' }] },
    tools: [
      {
        functionDeclarations: [
          { name: 'read_file', description: 'x', parametersJsonSchema: { type: 'object' } },
        ],
      },
    ],
    toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    safetySettings: [],
    generationConfig: {
      temperature: 1,
      topP: 0.95,
      topK: 64,
      thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 },
    },
    labels: {},
  })
  expect([param, losses]).toEqual([undefined, []])
  const [, , , assistant, results] = conversation.turns
  expect(assistant!.parts.map(({ type }) => type)).toEqual(['reasoning', 'call'])
  const [called] = assistant!.parts.filter((part) => part.type === 'call')
  expect(results!.parts[0]).toMatchObject({ type: 'result', callId: called!.id })
})

test('any request is read or refused', () => {
  const names = ['contents', 'tools', 'toolConfig', 'generationConfig', 'systemInstruction']
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), anyJson), (fields) => {
      read(fields as Json)
    }),
  )
  const part = fc.dictionary(
    fc.constantFrom('text', 'functionCall', 'functionResponse', 'inlineData', 'thoughtSignature'),
    fc.oneof(anyJson, fc.dictionary(fc.constantFrom('name', 'args', 'id', 'data'), anyJson)),
  )
  fc.assert(fc.property(fc.array(part), (parts) => void read({ contents: [{ parts }] } as Json)))
})
