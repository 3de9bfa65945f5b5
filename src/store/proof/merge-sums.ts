// Sums of money that have the same names become one. Knows no database.
import type { MoneyDimension, MoneySum } from './totals.ts'

const fieldOf = {
  account: 'accountId',
  hour: 'hourMs',
  kind: 'kind',
  token: 'tokenId',
  model: 'model',
  unit: 'unit',
  tier: 'tier',
  price: 'priceId',
  bucket: 'inputBucket',
  channel: 'channel',
} as const satisfies Record<MoneyDimension, keyof MoneySum>

const amounts = [
  'entries',
  'estimated',
  'quantity',
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'costUnknown',
] as const
const nanos = ['amountNanos', 'costNanos', 'refundNanos'] as const

export function addSum(sum: MoneySum, other: MoneySum, sign: 1 | -1 = 1): void {
  for (const name of nanos) sum[name] += BigInt(sign) * other[name]
  for (const name of amounts) sum[name] += sign * other[name]
}

export const sumKey = (sum: MoneySum, by: readonly MoneyDimension[]): string =>
  by.map((each) => sum[fieldOf[each]]).join('\u001f')

/** One for each key, in the order of the first of each. */
export function mergeSums(sums: Iterable<MoneySum>, by: readonly MoneyDimension[]): MoneySum[] {
  const byKey = new Map<string, MoneySum>()
  for (const sum of sums) {
    const key = sumKey(sum, by)
    const same = byKey.get(key)
    if (same === undefined) byKey.set(key, { ...sum })
    else addSum(same, sum)
  }
  return [...byKey.values()]
}
