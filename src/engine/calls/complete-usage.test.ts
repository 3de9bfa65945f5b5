// Reported usage with missing sides, and above what the request allows.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { completeUsage, isComplete, withinBounds } from './complete-usage.ts'

test('usage within the bounds stays as it is, and any other is cut to them', () => {
  const counts = fc.nat(3_000)
  fc.assert(
    fc.property(counts, counts, counts, counts, (input, output, read, written) => {
      const cacheReadTokens = Math.min(read, input)
      const cacheWriteTokens = Math.min(written, input - cacheReadTokens)
      const usage = { inputTokens: input, outputTokens: output, cacheReadTokens, cacheWriteTokens }
      const bounds = { inputTokens: 1, windowTokens: 1_000, outputTokens: 100 }
      const within = withinBounds(usage, bounds)
      if (input <= 1_000 && output <= 100) expect(within).toBe(usage)
      expect(within.inputTokens).toBe(Math.min(input, 1_000))
      expect(within.outputTokens).toBe(Math.min(output, 100))
      expect(within.cacheReadTokens + within.cacheWriteTokens).toBeLessThanOrEqual(
        within.inputTokens,
      )
    }),
  )
})

test('a side that was not reported is counted', () => {
  const cache = { cacheReadTokens: 3, cacheWriteTokens: 0 }
  const both = { inputTokens: 5, outputTokens: 7, ...cache }
  expect(completeUsage(both, 1, () => 1)).toEqual(both)
  expect(completeUsage({ ...both, outputTokens: undefined }, 1, () => 9).outputTokens).toBe(9)
  expect(completeUsage({ ...both, inputTokens: undefined }, 2, () => 9).inputTokens).toBe(3)
  expect(completeUsage({ ...both, inputTokens: undefined }, 8, () => 9).inputTokens).toBe(8)
  expect([isComplete(both), isComplete({ ...both, inputTokens: undefined })]).toEqual([true, false])
  expect(isComplete(undefined)).toBe(false)
})
