// Vectors in both encodings, exactly, and answers in the requested encoding.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { TextCall } from '../../contract/requests.ts'
import { embeddingsStyle } from './index.ts'
import { asBase64, asFloats } from './vectors.ts'

const vector = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), {
  minLength: 1,
  maxLength: 64,
})
const bitsOf = (numbers: readonly number[]) => [
  ...new Uint32Array(Float32Array.from(numbers).buffer),
]

describe('a vector', () => {
  test('of one and minus two is known in both encodings', () => {
    expect(asBase64([1, -2])).toBe('AACAPwAAAMA=')
    expect(asFloats('AACAPwAAAMA=')).toEqual([1, -2])
  })

  test('keeps every bit and its length on the way there and back', () => {
    fc.assert(
      fc.property(vector, (numbers) => {
        const text = asBase64(numbers)
        const back = asFloats(text!)
        expect(back).toHaveLength(numbers.length)
        expect(bitsOf(back!)).toEqual(bitsOf(numbers))
        expect(asBase64(back!)).toBe(text)
      }),
      { numRuns: 500 },
    )
  })

  test('keeps every bit also where the numbers went through JSON', () => {
    fc.assert(
      fc.property(vector, (numbers) => {
        const text = asBase64(numbers.map((each) => each + 0))!
        const throughJson = JSON.parse(JSON.stringify(asFloats(text))) as number[]
        // JSON has no negative zero, which equals zero.
        const same = numbers.map((each) => (each === 0 ? 0 : each))
        expect(bitsOf(throughJson)).toEqual(bitsOf(same))
      }),
    )
  })

  test('of doubles is rounded to the nearest float, as readers of Base64 expect', () => {
    expect(asFloats(asBase64([0.1, 1 / 3])!)).toEqual([Math.fround(0.1), Math.fround(1 / 3)])
  })

  test.each<[unknown[]]>([[[]], [['1']], [[1, null]], [[[1]]], [[1e300]], [[Number.NaN]]])(
    'is not what %j is',
    (list) => {
      expect(asBase64(list)).toBeUndefined()
    },
  )

  test.each(['', '=', 'AACAP', 'AACA!w==', 'AACAPw==\n', 'AAA=', 'AACAfw==', 'AADAfw=='])(
    'is not what %j is: not Base64 of whole and finite floats',
    (text) => {
      expect(asFloats(text)).toBeUndefined()
    },
  )

  test('may lack the padding of its Base64', () => {
    expect(asFloats('AACAPw')).toEqual([1])
  })
})

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
