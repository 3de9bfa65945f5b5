// Requests of the generate style: what is taken, in both spellings, and what is refused by which name.
import { describe, expect, test } from 'bun:test'
import { inexactKey } from '../../http/body/exact-keys.ts'
import { accepted, countsAnything, expectRefusal, read } from '../text/test-parsing.ts'
import { batchKeys, embedKeys, generateKeys } from './keys.ts'
import { parseCount, parseGenerate } from './parse.ts'
import { parseBatch, parseEmbed } from './parse-embed.ts'

const contents = [{ role: 'user', parts: [{ text: 'hello' }] }]
const least = { contents }
const generate = (body: Parameters<typeof parseGenerate>[0]) => parseGenerate(body, 'm', false)
const counting = (body: Parameters<typeof parseCount>[0]) => parseCount(body, 'm')
const withParts = (...parts: unknown[]) => ({ contents: [{ role: 'user', parts }] })
const picture = 'iVBORw0KGgo='

describe('a request', () => {
  test.each(['responseJsonSchema', 'response_json_schema', '_responseJsonSchema'])(
    'takes a schema as %s, whatever its properties are called',
    (name) => {
      const schema = { type: 'object', properties: { max_tokens: { type: 'string' } } }
      accepted(generate, { ...least, generationConfig: { [name]: schema } })
    },
  )

  test('is taken with the bound of its output and its size', () => {
    const generationConfig = { maxOutputTokens: 100, candidateCount: 2 }
    expect(accepted(generate, { ...least, generationConfig })).toMatchObject({
      interface: 'generate',
      model: 'm',
      stream: false,
      maxOutputTokens: 200,
      choices: 2,
      inputTokens: 8 + 2,
      inputBound: { isOpen: false, images: 0 },
    })
  })

  test.each<[object, number | undefined]>([
    [{ maxOutputTokens: 100 }, 100],
    [{ max_output_tokens: 100 }, 100],
    [{ maxOutputTokens: 100, candidateCount: 3 }, 300],
    [{ max_output_tokens: 100, candidate_count: 3 }, 300],
    [{ maxOutputTokens: 100, max_new_tokens: 200, candidateCount: 2 }, 400],
    [{ maxOutputTokens: 100, numPredict: -1 }, undefined],
    [{ maxOutputTokens: null }, undefined],
    [{}, undefined],
  ])('with %j may have %p tokens of output', (config, wanted) => {
    for (const name of ['generationConfig', 'generation_config']) {
      expect(accepted(generate, { ...least, [name]: config }).maxOutputTokens).toBe(wanted!)
    }
  })

  test('counts instructions, tools, calls and their results in both spellings', () => {
    const size = (fields: object) => accepted(generate, { ...least, ...fields }).inputTokens
    const plain = size({})
    const instruction = { parts: [{ text: 'four' }] }
    expect(size({ systemInstruction: instruction })).toBe(plain + 8 + 1)
    expect(size({ system_instruction: instruction })).toBe(plain + 8 + 1)
    expect(size({ tools: [{ functionDeclarations: [{ name: 'f' }] }] })).toBeGreaterThan(plain)
    const call = { name: 'f', args: { a: 'four' } }
    expect(size(withParts({ functionCall: call }))).toBe(size(withParts({ function_call: call })))
    const result = { name: 'f', response: { a: 'four' } }
    expect(size(withParts({ functionResponse: result }))).toBeGreaterThan(8)
  })

  test.each<[string, Record<string, unknown>]>([
    ['contents', { contents: undefined }],
    ['contents', { contents: null }],
    ['contents', { contents: [] }],
    ['contents', { contents: 'hello' }],
    ['contents', { contents: ['hello'] }],
    ['model', { model: 'models/other' }],
    ['model', { model: 'other' }],
    ['generationConfig', { generationConfig: [] }],
    ['generationConfig', { generationConfig: {}, generation_config: {} }],
    ['systemInstruction', { systemInstruction: {}, system_instruction: {} }],
    ['generationConfig.maxOutputTokens', { generationConfig: { maxOutputTokens: 0 } }],
    ['generationConfig.maxOutputTokens', { generationConfig: { max_output_tokens: '9' } }],
    [
      'generationConfig.maxOutputTokens',
      { generationConfig: { max_output_tokens: 9, maxOutputTokens: 8 } },
    ],
    ['generationConfig.candidateCount', { generationConfig: { candidateCount: 129 } }],
    [
      'generationConfig.thinkingConfig.thinkingBudget',
      { generationConfig: { thinkingConfig: { thinkingBudget: -2 } } },
    ],
    [
      'generationConfig.thinkingConfig.thinkingBudget',
      { generationConfig: { thinkingConfig: { thinkingBudget: 1, thinking_budget: 9 } } },
    ],
    [
      'generationConfig.responseModalities',
      { generationConfig: { responseModalities: ['IMAGE'] } },
    ],
    [
      'generationConfig.responseModalities',
      { generation_config: { response_modalities: ['TEXT', 'AUDIO'] } },
    ],
    ['generationConfig.speechConfig', { generationConfig: { speech_config: {} } }],
    ['serviceTier', { serviceTier: 'priority' }],
    ['serviceTier', { service_tier: 'flex' }],
    ['tools[0].googleSearch', { tools: [{ googleSearch: {} }] }],
    ['tools[0].google_search', { tools: [{ google_search: {} }] }],
    ['tools[0].urlContext', { tools: [{ urlContext: {} }] }],
    ['tools[0].code_execution', { tools: [{ code_execution: {} }] }],
    ['tools[1].fileSearch', { tools: [{ functionDeclarations: [] }, { fileSearch: {} }] }],
    ['tools[0].newTool', { tools: [{ functionDeclarations: [], newTool: {} }] }],
    ['web_search_options', { web_search_options: {} }],
    [
      'inlineData.mimeType',
      withParts({ inlineData: { mimeType: 'image/png', mime_type: 'audio/wav', data: 'a' } }),
    ],
    [
      'fileData.fileUri',
      withParts({ fileData: { fileUri: 'https://example.com/a', file_uri: 'files/a' } }),
    ],
  ])('is refused for %s in %j', (param, fields) => {
    expectRefusal(read(generate, { ...least, ...fields }), param)
  })

  test.each<[string, Record<string, unknown>]>([
    ['cachedContent', { cachedContent: 'cachedContents/a' }],
    ['cachedContent', { cached_content: 'cachedContents/a' }],
    ['fileData.fileUri', withParts({ fileData: { fileUri: 'files/abc' } })],
    ['fileData.fileUri', withParts({ file_data: { file_uri: 'gs://bucket/a.pdf' } })],
    [
      'fileData.fileUri',
      withParts({
        fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc' },
      }),
    ],
    [
      'fileData.fileUri',
      withParts({ fileData: { fileUri: 'https://up.example/v1beta/files/abc' } }),
    ],
    [
      'fileData.fileUri',
      withParts({
        functionResponse: {
          name: 'f',
          response: {},
          parts: [{ fileData: { fileUri: 'files/a' } }],
        },
      }),
    ],
  ])('does not reach %s of another account in %j', (param, fields) => {
    expectRefusal(read(generate, { ...least, ...fields }), param, 'not_found')
  })

  test.each<[unknown, object]>([
    [{ inlineData: { mimeType: 'image/png', data: picture } }, { isOpen: false, images: 1 }],
    [{ inline_data: { mime_type: 'image/png', data: picture } }, { isOpen: false, images: 1 }],
    [{ inlineData: { mimeType: 'audio/wav', data: picture } }, { isOpen: true, images: 0 }],
    [{ inlineData: { mimeType: 'application/pdf', data: picture } }, { isOpen: true }],
    [{ inlineData: { data: picture } }, { isOpen: true }],
    [{ fileData: { fileUri: 'https://example.com/files/a.pdf' } }, { isOpen: true }],
    [{ file_data: { file_uri: 'https://youtu.be/abc' } }, { isOpen: true }],
    [{ somethingNew: {} }, { isOpen: true }],
    [{ text: 'a', somethingNew: {} }, { isOpen: true }],
    [
      {
        functionResponse: {
          name: 'f',
          parts: [{ inlineData: { mimeType: 'image/png', data: picture } }],
        },
      },
      { isOpen: false, images: 1 },
    ],
    [{ text: 'a', thoughtSignature: 'sig', thought: true }, { isOpen: false }],
  ])('with the part %j has a size of %j', (part, bound) => {
    expect(accepted(generate, withParts(part)).inputBound).toMatchObject(bound)
  })

  test('may repeat the model of the path', () => {
    expect(accepted(generate, { ...least, model: 'models/m' }).model).toBe('m')
    expect(accepted(generate, { ...least, model: 'm' }).model).toBe('m')
  })

  test('of any content has a size', () => {
    countsAnything(generate, least, ['systemInstruction', 'tools', 'toolConfig'])
    countsAnything(
      (body) => {
        const text = JSON.stringify({ contents: [{ role: 'user', ...body.fields }] })
        return parseGenerate({ text, fields: JSON.parse(text) }, 'm', false)
      },
      {},
      ['content', 'tool_calls', 'parts'],
    )
  })
})

describe('keys', () => {
  const problemOf = (fields: object, keys = generateKeys) => inexactKey(fields, keys)?.extras.param
  test.each<[object, string]>([
    [{ Contents: [] }, 'contents'],
    [{ generationconfig: {} }, 'generationConfig'],
    [{ Generation_Config: {} }, 'generation_config'],
    [{ generationConfig: { MaxOutputTokens: 9 } }, 'generationConfig.maxOutputTokens'],
    [{ generation_config: { max_Output_tokens: 9 } }, 'generation_config.max_output_tokens'],
    [
      { generationConfig: { thinkingConfig: { thinkingbudget: 9 } } },
      'generationConfig.thinkingConfig.thinkingBudget',
    ],
    [{ tools: [{ GoogleSearch: {} }] }, 'tools[0].googleSearch'],
    [{ contents: [{ parts: [{ FileData: {} }] }] }, 'contents[0].parts[0].fileData'],
    [{ cachedcontent: 'a' }, 'cachedContent'],
    [{ Model: 'a' }, 'model'],
  ])('of %j are exact', (fields, param) => {
    expect(problemOf(fields)).toBe(param)
  })

  test('of embeddings are exact', () => {
    expect(problemOf({ Content: {} }, embedKeys)).toBe('content')
    expect(problemOf({ requests: [{ MODEL: 'x' }] }, batchKeys)).toBe('requests[0].model')
  })
})

describe('a count', () => {
  test('has the request at the top or one level down', () => {
    const plain = accepted(counting, least).inputTokens
    const inner = { generateContentRequest: { model: 'models/m', contents } }
    expect(accepted(counting, inner).inputTokens).toBe(plain)
    expectRefusal(read(counting, {}), 'contents')
    expectRefusal(read(counting, { generateContentRequest: { model: 'x', contents } }), 'model')
  })
})

describe('an embedding', () => {
  const content = { parts: [{ text: 'hello' }] }
  const embed = (body: Parameters<typeof parseEmbed>[0]) => parseEmbed(body, 'm')
  const batch = (body: Parameters<typeof parseBatch>[0]) => parseBatch(body, 'm')

  test('has no output, and as many inputs as requests', () => {
    expect(accepted(embed, { content })).toMatchObject({
      maxOutputTokens: 0,
      inputBound: { inputs: 1 },
    })
    const requests = [{ content, model: 'models/m' }, { content }]
    expect(accepted(batch, { requests })).toMatchObject({
      maxOutputTokens: 0,
      method: 'batchEmbedContents',
      inputBound: { inputs: 2 },
    })
  })

  test('is refused without a content, or for another model', () => {
    expectRefusal(read(embed, {}), 'content')
    expectRefusal(read(embed, { content, model: 'other' }), 'model')
    expectRefusal(read(batch, { requests: [] }), 'requests')
    expectRefusal(read(batch, { requests: [{ content }, {}] }), 'requests[1].content')
    expectRefusal(read(batch, { requests: [{ content, model: 'models/x' }] }), 'requests[0].model')
  })
})
