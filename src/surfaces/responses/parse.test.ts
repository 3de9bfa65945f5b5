// Responses requests: what is taken, what is refused and by which name.
import { describe, expect, test } from 'bun:test'
import { accepted, countsAnything, expectRefusal, read } from '../text/test-parsing.ts'
import { parseResponses } from './parse.ts'

const min = { model: 'm', input: 'hello' }

describe('a responses request', () => {
  test.each<[unknown, number]>([
    ['hello', 2],
    ['', 0],
    [[], 0],
    [[{ role: 'user', content: 'hello' }], 8 + 2],
    [[{ role: 'user', content: [{ type: 'input_text', text: 'hello' }] }], 8 + 2],
    [[{ type: 'function_call', call_id: 'c', arguments: 'x'.repeat(40) }], 8 + 10],
    [[{ type: 'function_call_output', call_id: 'c', output: 'x'.repeat(40) }], 8 + 10],
    [[{ type: 'function_call_output', output: [{ type: 'input_text', text: 'four' }] }], 8 + 1],
    [[{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'four' }] }], 8 + 1],
    [[{ type: 'item_reference', id: 'x' }], 8],
    [[{ role: 'user', content: [{ type: 'input_image', image_url: 'data:,' }] }], 8 + 2048],
  ])('with the input %j is taken, its size about %d', (input, size) => {
    const call = accepted(parseResponses, { model: 'm', input })
    expect(call).toMatchObject({ interface: 'responses', inputTokens: size, choices: 1 })
  })

  test('counts its instructions and its tools', () => {
    const plain = accepted(parseResponses, min).inputTokens
    const told = accepted(parseResponses, { ...min, instructions: 'x'.repeat(40) })
    expect(told.inputTokens).toBe(plain + 10)
    const tools = [{ type: 'function', name: 'f' }]
    const armed = accepted(parseResponses, { ...min, tools })
    expect(armed.inputTokens).toBe(plain + Math.ceil(JSON.stringify(tools).length / 4))
  })

  test('needs no input when it goes on from an earlier response', () => {
    const name = 'previous_response_id'
    const call = accepted(parseResponses, { model: 'm', [name]: 'x' })
    expect([call.inputTokens, call.inputBound.isOpen]).toEqual([0, true])
    expect(call.references).toEqual([{ param: name, id: 'x' }])
    expectRefusal(read(parseResponses, { model: 'm', [name]: null }), 'input')
  })

  test('tells which ids in it may stand for something kept upstream', () => {
    const input = [
      { type: 'item_reference', id: 'a' },
      { id: 'b' },
      { type: 'message', role: 'user', id: 'c', content: 'x' },
      { role: 'user', content: 'x' },
    ]
    expect(accepted(parseResponses, { model: 'm', input }).references).toEqual([
      { param: 'item_reference', id: 'a' },
      { param: 'item_reference', id: 'b' },
      { param: 'input', id: 'c', item: 2 },
    ])
    expect(accepted(parseResponses, { ...min, input }).inputBound.isOpen).toBe(true)
    const given = accepted(parseResponses, { ...min, input: input.slice(2) })
    expect(given.inputBound.isOpen).toBe(false)
  })

  test.each<[string, Record<string, unknown>]>([
    ['conversation', { conversation: 'conv_1' }],
    ['conversation', { conversation: { id: 'conv_1' } }],
    ['prompt.id', { prompt: { id: 'pmpt_1' } }],
    ['item_reference', { input: [{ type: 'item_reference', id: 5 }] }],
    ['previous_response_id', { previous_response_id: {} }],
    ['vector_store_ids', { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }],
    ['container', { tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }],
    ['file_id', { tools: [{ type: 'code_interpreter', container: { file_ids: ['f'] } }] }],
    ['file_id', { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] }],
  ])('names nothing that exists by its %s in %j', (param, fields) => {
    expectRefusal(read(parseResponses, { ...min, ...fields }), param, 'not_found')
  })

  test.each<[string, Record<string, unknown>]>([
    ['tools[0].type', { tools: [{ type: 'web_search' }] }],
    ['tools[1].type', { tools: [{ type: 'function' }, { type: 'web_search_preview_2025_03_11' }] }],
    ['tools[0].type', { tools: [{ type: 'mcp', server_url: 'https://a.example' }] }],
    ['tools[0].type', { tools: [{ type: 'image_generation' }] }],
    ['tools[0].type', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }],
    ['tools[0].type', { tools: [{ type: 5 }] }],
    ['tools[0].tools[0].type', { tools: [{ type: 'namespace', tools: [{ type: 'web_search' }] }] }],
    ['input.tools[0].type', { input: [{ type: 'additional_tools', tools: [{ type: 'mcp' }] }] }],
    ['service_tier', { service_tier: 'priority' }],
    ['service_tier', { service_tier: 'flex' }],
    ['background', { background: 'true' }],
    ['modalities', { modalities: ['text', 'audio'] }],
    ['audio', { audio: { voice: 'x' } }],
    ['n', { n: 2 }],
    ['models', { models: ['other'] }],
  ])('is refused for its %s in %j', (param, fields) => {
    expectRefusal(read(parseResponses, { ...min, ...fields }), param)
  })

  test.each<[Record<string, unknown>]>([
    [{ tools: [{ type: 'function', name: 'f' }, { type: 'custom' }, { type: 'local_shell' }] }],
    [{ tools: [{ type: 'namespace', name: 'x', tools: [{ type: 'function' }] }] }],
    [{ service_tier: 'auto', store: true, background: false, modalities: ['text'] }],
    [{ service_tier: null, web_search_options: null, conversation: null, prompt: null }],
    [{ include: ['reasoning.encrypted_content'], prompt_cache_key: 'x', metadata: {}, n: 1 }],
  ])('is taken with %j', (fields) => {
    accepted(parseResponses, { ...min, ...fields })
  })

  test('with nulls is the same as without those fields', () => {
    const names = ['stream', 'max_output_tokens', 'tools', 'instructions', 'background']
    const nulls = Object.fromEntries(names.map((name) => [name, null]))
    const {
      body: _,
      fields: __,
      inputBound: a,
      ...call
    } = accepted(parseResponses, { ...min, ...nulls })
    const { body: ___, fields: ____, inputBound: b, ...plain } = accepted(parseResponses, min)
    expect(call).toEqual(plain)
    expect([a.isOpen, a.images]).toEqual([b.isOpen, b.images])
    expect(accepted(parseResponses, { ...min, background: false })).not.toHaveProperty('background')
    expect(accepted(parseResponses, { ...min, background: true }).background).toBe(true)
  })

  test.each<[string, Record<string, unknown>]>([
    ['model', { model: null }],
    ['model', { model: {} }],
    ['input', { input: undefined }],
    ['input', { input: null }],
    ['input', { input: 5 }],
    ['input', { input: { role: 'user' } }],
    ['input', { input: ['hello'] }],
    ['input', { input: [{ role: 'user' }, null] }],
    ['store', { background: true, store: false }],
    ['stream', { background: true, stream: true }],
    ['stream', { stream: 'yes' }],
    ['max_output_tokens', { max_output_tokens: 0 }],
    ['max_output_tokens', { max_output_tokens: 1.5 }],
    ['max_output_tokens', { max_output_tokens: '9' }],
  ])('is refused for its %s in %j', (param, fields) => {
    expectRefusal(read(parseResponses, { ...min, ...fields }), param)
  })

  test('has the bound of its output', () => {
    const call = accepted(parseResponses, { ...min, max_output_tokens: 9, stream: true })
    expect([call.maxOutputTokens, call.stream]).toEqual([9, true])
  })

  test('of any content has a size', () => {
    countsAnything(parseResponses, min, ['instructions', 'tools', 'prompt'])
    countsAnything(
      (body) => {
        const text = JSON.stringify({ model: 'm', input: [body.fields] })
        return parseResponses({ text, fields: JSON.parse(text) })
      },
      {},
      ['role', 'type', 'content', 'output', 'arguments', 'summary'],
    )
  })
})
