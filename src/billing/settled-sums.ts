// Sums of money for those who look on, put together from days of which most are known by heart.
import type { Tx } from '../store/index.ts'
import { type DaysQuery, sumMoneyDays } from '../store/money-days.ts'
import type { MoneyDimension, MoneySum } from '../store/money-hours.ts'

/** The same as `sumMoney`, from the days. */
export async function sumSettledMoney(db: Tx, asked: DaysQuery): Promise<MoneySum[]> {
  const days = await sumMoneyDays(db, asked)
  const groups = new Map<string, MoneySum>()
  for (const { sums } of days) {
    for (const sum of sums) {
      const key = asked.by.map((dimension) => sum[fieldOf[dimension]]).join('\u001f')
      const group = groups.get(key)
      if (group === undefined) groups.set(key, { ...sum })
      else add(group, sum)
    }
  }
  return [...groups.values()]
}

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
} as const satisfies Record<MoneyDimension, keyof MoneySum>

function add(group: MoneySum, sum: MoneySum): void {
  group.entries += sum.entries
  group.estimated += sum.estimated
  group.quantity += sum.quantity
  group.amountNanos += sum.amountNanos
  group.inputTokens += sum.inputTokens
  group.outputTokens += sum.outputTokens
  group.cacheReadTokens += sum.cacheReadTokens
  group.cacheWriteTokens += sum.cacheWriteTokens
}
