// Rerank requests: what is taken, what is refused and by which name.
import { describe, expect, test } from 'bun:test'
import { accepted, expectRefusal, read } from '../text/test-parsing.ts'
import { parseRerank } from './parse.ts'

const min = { model: 'm', query: 'q', documents: ['a', 'b'] }

describe('a rerank request', () => {
  test('is held for the searches that its documents may be', () => {
    expect(read(parseRerank, min)).toMatchObject({ quantity: { counted: 1, max: 1 } })
    const many = { ...min, documents: new Array(250).fill('x') }
    expect(read(parseRerank, many)).toMatchObject({ quantity: { counted: 1, max: 3 } })
    const long = { ...min, documents: ['x'.repeat(60_000)] }
    expect(read(parseRerank, long)).toMatchObject({ quantity: { max: 3, plausible: 236 } })
  })

  test('counts its query once for each document', () => {
    const [one, two] = [['a'], ['a', 'a']].map((documents) => {
      const call = accepted(parseRerank, { ...min, query: 'a long query of words', documents })
      return call.inputTokens
    })
    expect(two!).toBeGreaterThan(1.7 * one!)
  })

  test.each<[string, object]>([
    ['query', { query: '' }],
    ['query', { query: ' \n' }],
    ['query', { query: ['q'] }],
    ['documents', { documents: [] }],
    ['documents', { documents: 'a' }],
    ['documents', { documents: ['a', 5] }],
    ['documents', { documents: [{ title: 'a' }] }],
    ['documents', { documents: [{ text: 5 }] }],
    ['documents', { documents: new Array(10_001).fill('x') }],
    ['top_n', { top_n: -1 }],
    ['top_n', { top_n: 0 }],
    ['top_n', { top_n: 1.5 }],
    ['top_n', { top_n: '2' }],
    ['max_tokens_per_doc', { max_tokens_per_doc: 0 }],
    ['return_documents', { return_documents: 'true' }],
    ['model', { model: 5 }],
  ])('is refused for its %s (case %#)', (param, fields) => {
    expectRefusal(read(parseRerank, { ...min, ...fields }), param)
  })
})
