// At which channels draft prices would be below cost: the usage of a past period at the draft, and at what each
// channel takes for it.
import { formatNanos } from '../../lib/text/decimal.ts'
import { timesFactor } from '../cost.ts'
import type { CostTerms } from './cost-book.ts'
import type { Compared } from './preview.ts'
import type { PriceBook } from './price-book.ts'
import { reprice } from './reprice.ts'

interface ChannelCost {
  channel: string
  cost: CostTerms
}

interface Losing {
  model: string
  channel: string
  charges: number
  /** Lost per call, and by all of them. */
  per_call: string
  total: string
}

/** The largest losses first. `costsOf`: what channels that serve a model take for it. */
export function losingChannels(
  compared: readonly Compared[],
  costsOf: (model: string) => readonly ChannelCost[],
  book: PriceBook,
  bounds: readonly number[],
): Losing[] {
  const sums = new Map<string, { model: string; channel: string; charges: number; lost: bigint }>()
  for (const { spent, model, range } of compared) {
    const before = book.byId(spent.priceId)?.terms
    const chargedNanos = (range.minNanos + range.maxNanos) / 2n
    for (const { channel, cost } of costsOf(model)) {
      const came = reprice(cost.terms, spent, before, bounds)
      if (typeof came === 'string') continue
      const costNanos = timesFactor((came.minNanos + came.maxNanos) / 2n, cost.factorNanos)
      const key = `${model} ${channel}`
      const sum = sums.get(key) ?? { model, channel, charges: 0, lost: 0n }
      sum.charges += spent.entries
      sum.lost += costNanos - chargedNanos
      sums.set(key, sum)
    }
  }
  return [...sums.values()]
    .filter(({ lost, charges }) => lost > 0n && charges > 0)
    .sort((a, b) => (a.lost < b.lost ? 1 : -1))
    .map(({ model, channel, charges, lost }) => ({
      ...{ model, channel, charges },
      per_call: formatNanos(lost / BigInt(charges)),
      total: formatNanos(lost),
    }))
}
