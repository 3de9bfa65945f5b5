// Answers with vectors, in the requested encoding.
import { describe, expect, test } from 'bun:test'
import type { TextCall } from '../../contract/requests.ts'
import { embeddingsStyle } from './index.ts'

describe('an answer', () => {
  const answer = (...vectors: unknown[]) => ({
    object: 'list',
    data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model: 'm',
    usage: { prompt_tokens: 3 },
    extra: { kept: true },
  })
  const read = (body: Record<string, unknown>, encoding_format?: unknown) =>
    embeddingsStyle.readAnswer(body, { fields: { encoding_format } } as unknown as TextCall)

  test.each<[unknown, unknown]>([
    ['base64', 'AACAPwAAAMA='],
    ['float', [1, -2]],
    [undefined, [1, -2]],
    [null, [1, -2]],
  ])('in the encoding asked for (%j) passes as it came', (encoding, given) => {
    const found = read(answer(given, given), encoding)
    expect(found).toMatchObject({ reported: { usage: { inputTokens: 3, outputTokens: 0 } } })
    expect(found).not.toHaveProperty('body')
  })

  test.each<[unknown, unknown[], unknown]>([
    ['base64', [[1, -2], 'AACAPwAAAMA='], 'AACAPwAAAMA='],
    ['float', ['AACAPwAAAMA=', [1, -2]], [1, -2]],
    [undefined, ['AACAPwAAAMA=', 'AACAPwAAAMA='], [1, -2]],
  ])('in another encoding than %j is put into it, all else kept', (encoding, given, wanted) => {
    const found = read(answer(...given), encoding) as { body: string }
    expect(JSON.parse(found.body)).toEqual(answer(wanted, wanted))
  })

  test.each<[string, Record<string, unknown>]>([
    ['no list', { data: { embedding: [1] } }],
    ['an empty list', { data: [] }],
    ['a list of vectors without their items', { data: [[1, 2]] }],
    ['an item without a vector', answer(undefined)],
    ['a vector that is null', answer(null)],
    ['a vector that is an object', answer({ float: [1] })],
    ['text that is no Base64', answer('????')],
    ['a list of texts, to be encoded', answer(['1'])],
  ])('with %s is none', (name, body) => {
    expect(read(body, name.includes('encoded') ? 'base64' : 'float')).toBeUndefined()
  })
})
