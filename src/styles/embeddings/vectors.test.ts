// Vectors in both encodings, exactly.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
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
