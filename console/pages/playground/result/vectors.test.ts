import { expect, test } from 'bun:test'
import { cosine, inputsIn, norm, vectorsIn } from './vectors.ts'

test('length and likeness are those of geometry', () => {
  expect(norm([3, 4])).toBe(5)
  expect(cosine([1, 0], [0, 2])).toBe(0)
  expect(cosine([1, 2], [2, 4])).toBeCloseTo(1)
  expect(cosine([1, 1], [-1, -1])).toBeCloseTo(-1)
  expect(cosine([0, 0], [1, 1])).toBe(0)
})

test('vectors are read as numbers and as bytes', () => {
  const code = Buffer.from(new Float32Array([0.5, -2]).buffer).toString('base64')
  const data = [{ embedding: [0.5, -2] }, { embedding: code }, { embedding: '%' }, null]
  expect(vectorsIn({ data })).toEqual([[0.5, -2], [0.5, -2], [], []])
  expect(vectorsIn('no')).toEqual([])
})

test('a vector has the text it is of', () => {
  expect(inputsIn({ input: ['a', [1, 2]] })).toEqual(['a', undefined])
  expect(inputsIn({ input: 'alone' })).toEqual(['alone'])
})
