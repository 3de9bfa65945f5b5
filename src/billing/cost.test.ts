import { describe, expect, test } from 'bun:test'
import { converted, costQuantity, timesFactor } from './cost.ts'
import type { CostTerms } from './prices/cost-book.ts'

describe('an amount in another currency', () => {
  test.each([
    ['12.34', '1.1', '13.574'],
    ['-12.34', '1.1', '-13.574'],
    ['0.0000000015', '1', '0.000000002'],
    ['-0.0000000015', '1', '-0.000000002'],
    ['123456789012345678.9', '0.5', '61728394506172839.45'],
    ['3', '0.333333333', '0.999999999'],
  ])('%s at %s is %s', (amount, rate, expected) => {
    expect(converted(amount, rate)).toBe(expected)
  })
})

test('a factor rounds half up, and no factor changes nothing', () => {
  expect(timesFactor(3n, 500_000_000n)).toBe(2n)
  expect(timesFactor(7n, 2_000_000_000n)).toBe(14n)
  expect(timesFactor(7n, undefined)).toBe(7n)
})

test('what was not counted has no cost, unless it is free', () => {
  const none = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
  const search: CostTerms = { terms: { unit: 'search', rateNanos: 5n } }
  expect(costQuantity(search, none, 0)).toBeUndefined()
  expect(costQuantity({ terms: { unit: 'free' } }, none, 0)).toBe(0n)
})
