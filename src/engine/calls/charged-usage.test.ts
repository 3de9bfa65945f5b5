// Reported usage with missing sides, and above what the request allows.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createPriceBook } from '../../billing/prices/price-book.ts'
import { completeUsage, isComplete, othersAmong, payable } from './charged-usage.ts'
import type { OpenCall } from './open-call.ts'

test('usage within the bounds stays as it is, and of any other what the answer shows', () => {
  const counts = fc.nat(3_000)
  const all = [counts, counts, counts, counts, counts, fc.nat(200)] as const
  fc.assert(
    fc.property(...all, (input, output, read, written, reasoning, text) => {
      const cacheReadTokens = Math.min(read, input)
      const cacheWriteTokens = Math.min(written, input - cacheReadTokens)
      const usage = { inputTokens: input, outputTokens: output, cacheReadTokens, cacheWriteTokens }
      const bounds = { inputTokens: 1, windowTokens: 1_000, outputTokens: 100 }
      const reasoningTokens = Math.min(reasoning, output)
      const within = payable(usage, bounds, { ...usage, reasoningTokens }, () => text)
      if (input <= 1_000 && output <= 100) expect(within).toBe(usage)
      expect(within.inputTokens).toBe(Math.min(input, 1_000))
      const given = Math.max(100, reasoningTokens + text)
      expect(within.outputTokens).toBe(Math.min(output, given))
      expect(within.cacheReadTokens + within.cacheWriteTokens).toBeLessThanOrEqual(
        within.inputTokens,
      )
    }),
  )
})

test('other models of the usage cost what they cost at the admission', () => {
  const minuteMs = 60_000
  const other = (id: string, effectiveFromMs: number) => ({
    ...{ id, model: 'other', effectiveFromMs, source: 'api' as const },
    terms: {
      ...{ unit: 'token' as const, tiers: [{ inputNanos: 1n, outputNanos: 1n }] },
      hours: [{ fromMinute: 0, toMinute: 2, zone: 'UTC', factorNanos: 1n }],
    },
  })
  const versions = [other('before', 0), other('since', 2 * minuteMs)]
  const nowMs = () => 3 * minuteMs
  const open = {
    engine: {
      prices: createPriceBook(versions, new Set(), nowMs),
      catalog: { channels: [], models: new Map([['other', {}]]) },
      clock: { nowMs },
    },
    ...{ call: { model: 'own' }, price: { model: 'own', id: 'own' }, record: { detail: {} } },
    ...{ accountId: 'acc_1', admittedMs: minuteMs },
  } as unknown as OpenCall
  const usage = { inputTokens: 5, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
  expect(othersAmong(open, [{ model: 'other', ...usage }])).toEqual([
    { ...usage, model: 'other', priceId: 'before', applied: { hours: 0 } },
  ])
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
