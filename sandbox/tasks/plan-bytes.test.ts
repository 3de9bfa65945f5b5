import { expect, test } from 'bun:test'
import { seeded, testSeed } from '../../test/support/seeded.ts'
import { fromLetters, PlanReader, PlanWriter, toLetters } from './plan-bytes.ts'

test('what is written is read again, in order', () => {
  const plan = new PlanWriter()
  const numbers = [0, 1, 127, 128, 16_384, 4_294_967_296, Date.parse('2026-01-02'), 2 ** 48]
  for (const number of numbers) plan.whole(number)
  plan.hex('00ff10')
  plan.text('größe 🎬')
  const read = new PlanReader(plan.done())
  expect(numbers.map(() => read.whole())).toEqual(numbers)
  expect([read.hex(3), read.text(), read.whole()]).toEqual(['00ff10', 'größe 🎬', 0])
})

test('words are carried while they are few, and told from none', () => {
  const carried = (words: string | undefined) => {
    const plan = new PlanWriter()
    plan.words(words)
    return new PlanReader(plan.done()).words()
  }
  expect(['', 'a cat', undefined].map(carried)).toEqual(['', 'a cat', undefined])
  expect(carried('x'.repeat(41))).toBe('x'.repeat(41))
  expect(carried('x'.repeat(42))).toBeUndefined()
  expect(carried('ü'.repeat(21))).toBeUndefined()
})

test('bytes become letters and bytes again, whatever their number', () => {
  const random = seeded(testSeed())
  for (let size = 0; size < 30; size++) {
    const bytes = Buffer.from(Array.from({ length: size }, () => Math.floor(random() * 256)))
    const text = toLetters(bytes)
    expect(text).toMatch(/^[0-9a-z]*$/)
    expect(fromLetters(text)).toEqual(bytes)
  }
  expect(['A', 'o', '-', 'é'].map(fromLetters)).toEqual(Array(4).fill(undefined))
})
