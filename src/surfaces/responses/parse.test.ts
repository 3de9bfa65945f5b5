// Responses requests: what is taken, what is refused and by which name.
import { describe, expect, test } from 'bun:test'
import { accepted, countsAnything, expectRefusal, read } from '../text/test-parsing.ts'
import { parseResponses } from './parse.ts'

const least = { model: 'm', input: 'hello' }

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
    const plain = accepted(parseResponses, least).inputTokens
    const told = accepted(parseResponses, { ...least, instructions: 'x'.repeat(40) })
    expect(told.inputTokens).toBe(plain + 10)
    const tools = [{ type: 'function', name: 'f' }]
    const armed = accepted(parseResponses, { ...least, tools })
    expect(armed.inputTokens).toBe(plain + Math.ceil(JSON.stringify(tools).length / 4))
  })

  test.each(['prompt', 'previous_response_id', 'conversation'])(
    'needs no input when it has a %s',
    (name) => {
      expect(accepted(parseResponses, { model: 'm', [name]: 'x' }).inputTokens).toBe(0)
      expectRefusal(read(parseResponses, { model: 'm', [name]: null }), 'input')
    },
  )

  test('with nulls is the same as without those fields', () => {
    const names = ['stream', 'max_output_tokens', 'tools', 'instructions', 'background']
    const nulls = Object.fromEntries(names.map((name) => [name, null]))
    const { body: _, fields: __, ...call } = accepted(parseResponses, { ...least, ...nulls })
    const { body: ___, fields: ____, ...plain } = accepted(parseResponses, least)
    expect(call).toEqual(plain)
    expect(accepted(parseResponses, { ...least, background: false }).stream).toBe(false)
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
    ['background', { background: true }],
    ['stream', { stream: 'yes' }],
    ['max_output_tokens', { max_output_tokens: 0 }],
    ['max_output_tokens', { max_output_tokens: 1.5 }],
    ['max_output_tokens', { max_output_tokens: '9' }],
  ])('is refused for its %s in %j', (param, fields) => {
    expectRefusal(read(parseResponses, { ...least, ...fields }), param)
  })

  test('has the bound of its output', () => {
    const call = accepted(parseResponses, { ...least, max_output_tokens: 9, stream: true })
    expect([call.maxOutputTokens, call.stream]).toEqual([9, true])
  })

  test('of any content has a size', () => {
    countsAnything(parseResponses, least, ['instructions', 'tools', 'prompt'])
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
