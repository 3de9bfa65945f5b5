// Sums of money for lists of bills: the settled beginning of a period is cached, the rest is read.
import type { Tx } from '../../store/index.ts'
import { hourMs } from '../../store/proof/grains.ts'
import {
  type DaysQuery,
  type MoneyDimension,
  type MoneySum,
  settledUntil,
  sumDays,
} from '../../store/proof/totals.ts'

interface Begun {
  untilMs: number
  sums: readonly MoneySum[]
}

/** Maximum cached prefixes; beyond it the cache is cleared. */
const maxBegun = 10_000
const begunBy = new WeakMap<Tx, Map<string, Begun>>()

/** The same as `sumDays`, for a period that is queried often: its settled prefix is cached. */
export async function sumGrowingMoney(db: Tx, asked: DaysQuery): Promise<MoneySum[]> {
  const known = begunBy.get(db) ?? new Map<string, Begun>()
  begunBy.set(db, known)
  const { accountId = '', fromMs, untilMs, by } = asked
  const key = `${fromMs} ${by.join()} ${accountId}`
  const settledMs = await settledUntil(db)
  const endMs = Math.max(fromMs, Math.min(untilMs, settledMs - (settledMs % hourMs)))
  let begun = known.get(key) ?? { untilMs: fromMs, sums: [] }
  // The cached period with the same start may be longer.
  if (begun.untilMs > endMs) begun = { untilMs: fromMs, sums: [] }
  if (endMs > begun.untilMs) {
    const grown = await sumDays(db, { ...asked, fromMs: begun.untilMs, untilMs: endMs })
    begun = { untilMs: endMs, sums: together(asked, [begun.sums, grown]) }
    if (known.size >= maxBegun) known.clear()
    known.set(key, begun)
  }
  if (begun.untilMs >= untilMs) return begun.sums.map((sum) => ({ ...sum }))
  const rest = await sumDays(db, { ...asked, fromMs: begun.untilMs })
  return together(asked, [begun.sums, rest])
}

function together({ by }: DaysQuery, parts: readonly (readonly MoneySum[])[]): MoneySum[] {
  const groups = new Map<string, MoneySum>()
  for (const sum of parts.flat()) {
    const key = by.map((dimension) => sum[fieldOf[dimension]]).join('\u001f')
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { ...sum })
    else add(group, sum)
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
  channel: 'channel',
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
  group.costNanos += sum.costNanos
  group.costUnknown += sum.costUnknown
  group.refundNanos += sum.refundNanos
}
