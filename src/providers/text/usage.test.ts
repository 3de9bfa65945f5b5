// The counts that all styles believe, and those they do not.
import { expect, test } from 'bun:test'
import { count, plainUsage, writtenTokens } from './usage.ts'

test.each<[unknown, number | undefined]>([
  [0, 0],
  [7, 7],
  [100_000_000, 100_000_000],
  [100_000_001, undefined],
  [-1, undefined],
  [0.5, undefined],
  [Number.NaN, undefined],
  [Number.POSITIVE_INFINITY, undefined],
  ['7', undefined],
  [null, undefined],
  [undefined, undefined],
  [[7], undefined],
  [true, undefined],
])('%p counts as %p', (value, counted) => {
  expect(count(value)).toBe(counted as number)
})

test.each<[(number | undefined)[], boolean]>([
  [[5, 7, 0, 0], true],
  [[5, 7, 2, 3], true],
  [[0, 0, 0, 0], true],
  [[5, 7, 3, 3], false],
  [[5, 7, 6, 0], false],
  [[undefined, 7, 0, 0], false],
  [[5, undefined, 0, 0], false],
  [[5, 7, undefined, 0], false],
  [[5, 7, 0, undefined], false],
  [[100_000_001, 7, 0, 0], false],
])('%j is usage: %p', ([input, output, read, written], usable) => {
  const { usage, raw } = plainUsage('as it came', input, output, read, written)
  expect(usage !== undefined).toBe(usable)
  expect(raw).toBe('as it came')
})

test.each<[Record<string, unknown>, unknown]>([
  [{}, 0],
  [{ cache_creation: null }, 0],
  [{ cache_creation: 5 }, 0],
  [{ cache_creation_input_tokens: 5, cache_creation: { ephemeral_5m_input_tokens: 9 } }, 5],
  [{ cache_creation_input_tokens: null, cache_creation: { ephemeral_1h: 9 } }, 9],
  [{ cache_creation: { cache_creation_input_tokens: 4, ephemeral_1h: 9 } }, 4],
  [{ cache_creation: { ephemeral_5m: 4, ephemeral_1h: 5, other: 100 } }, 9],
  [{ cache_creation: { ephemeral_5m: '4', ephemeral_1h: 5 } }, 5],
])('of %j, %p tokens were written', (details, written) => {
  expect(writtenTokens(details)).toBe(written as number)
})
