// Embeddings requests: what is taken, what is refused and by which name.
import { describe, expect, test } from 'bun:test'
import { accepted, countsAnything, expectRefusal, read } from '../text/test-parsing.ts'
import { parseEmbeddings } from './parse.ts'

const min = { model: 'm', input: ['hello'] }

describe('an embeddings request', () => {
  test.each<[unknown, number]>([
    ['hello', 2],
    [['hello', 'hello'], 4],
    [['你好'], 2],
    [[1, 2, 3], 3],
    [[[1, 2], [3]], 3],
    [['hello', [1]], 3],
    [new Array(4_096).fill('x'), 4_096],
    [new Array(5_000).fill(7), 5_000],
  ])('with an input is taken (size %#)', (input, size) => {
    const call = accepted(parseEmbeddings, { model: 'm', input })
    expect(call).toMatchObject({
      interface: 'embeddings',
      inputTokens: size,
      maxOutputTokens: 0,
      stream: false,
    })
  })

  test.each<[Record<string, unknown>]>([
    [{ encoding_format: 'float' }],
    [{ encoding_format: 'base64' }],
    [{ encoding_format: null, dimensions: null }],
    [{ dimensions: 64, user: 'x', anything: {} }],
  ])('with %j is taken', (fields) => {
    expect(accepted(parseEmbeddings, { ...min, ...fields }).inputTokens).toBe(2)
  })

  test.each<[string, Record<string, unknown>]>([
    ['model', { model: '' }],
    ['model', { model: null }],
    ['input', { input: undefined }],
    ['input', { input: null }],
    ['input', { input: '' }],
    ['input', { input: [] }],
    ['input', { input: 5 }],
    ['input', { input: { text: 'x' } }],
    ['input', { input: ['x', null] }],
    ['input', { input: ['x', 5] }],
    ['input', { input: [[]] }],
    ['input', { input: [['x']] }],
    ['input', { input: [{}] }],
    ['input', { input: new Array(4_097).fill('x') }],
    ['encoding_format', { encoding_format: 'hex' }],
    ['encoding_format', { encoding_format: 'Float' }],
    ['encoding_format', { encoding_format: 5 }],
    ['dimensions', { dimensions: 0 }],
    ['dimensions', { dimensions: 1.5 }],
    ['dimensions', { dimensions: '64' }],
  ])('is refused for its %s (case %#)', (param, fields) => {
    expectRefusal(read(parseEmbeddings, { ...min, ...fields }), param)
  })

  test('names the place of an input that is wrong', () => {
    expect(read(parseEmbeddings, { model: 'm', input: ['x', {}] })).toMatchObject({
      message: expect.stringContaining("'input[1]'"),
    })
  })

  test('of any content has a size', () => {
    countsAnything(parseEmbeddings, min, ['input', 'dimensions'])
  })
})
