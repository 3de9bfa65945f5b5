import { expect, test } from 'bun:test'
import { otherNames } from '../../contract/totals.ts'
import type { MoneyQuery, MoneySum } from '../../store/proof/totals.ts'
import { maxSums, sumBounded } from './bounded-sums.ts'

const dayMs = 86_400_000
const none = { estimated: 0, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0 }
const rest = { ...none, cacheWriteTokens: 0, costNanos: 1n, costUnknown: 0, refundNanos: 0n }

/** Of each account and day one; accounts with higher numbers were charged more. */
const sumsOf = (accounts: number, days: number): MoneySum[] =>
  Array.from({ length: accounts * days }, (_, i) => ({
    ...{ accountId: `acc_${String(i % accounts).padStart(4, '0')}`, kind: 'charge' as const },
    ...{ hourMs: Math.floor(i / accounts) * dayMs, unit: 'token' },
    ...{ entries: 1, quantity: 2, amountNanos: -BigInt(1 + (i % accounts)), ...rest },
  }))

async function bounded(sums: readonly MoneySum[], days: number) {
  const limits: (number | undefined)[] = []
  const sum = async (_db: unknown, { limit }: MoneyQuery) => {
    limits.push(limit)
    return sums.slice(0, limit).map((each) => ({ ...each }))
  }
  const by = ['kind', 'unit', 'hour', 'account'] as const
  const query = { fromMs: 0, untilMs: days * dayMs, by }
  return { found: await sumBounded(undefined as never, query, sum as never), limits }
}

const totalOf = (sums: readonly MoneySum[]) =>
  sums.reduce(
    (sum, { amountNanos, entries }) => [sum[0]! + amountNanos, sum[1]! + BigInt(entries)],
    [0n, 0n],
  )

test('what fits on a page stays as it is', async () => {
  const sums = sumsOf(50, 60)
  expect((await bounded(sums, 60)).found).toEqual(sums)
})

test('more is read once: the largest names are told apart, and the others are one', async () => {
  const sums = sumsOf(200, 60)
  const { found, limits } = await bounded(sums, 60)
  expect(limits).toHaveLength(1)
  expect(found.length).toBeLessThanOrEqual(maxSums)
  expect(totalOf(found)).toEqual(totalOf(sums))
  const names = [...new Set(found.map(({ accountId }) => accountId!))].sort()
  expect(names).toContain(otherNames)
  expect(names).toContain('acc_0199')
  expect(names).not.toContain('acc_0000')
  expect(found.filter(({ hourMs }) => hourMs === 0)).toHaveLength(names.length)
})
