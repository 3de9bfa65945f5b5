// What upstreams take for usage, by the terms of a cost and its factor. Exact, one rounding for each attempt.
import type { Applied } from '../contract/price.ts'
import { hoursAt } from '../contract/price-hours.ts'
import type { TokenUsage } from '../contract/usage.ts'
import { ensure } from '../lib/ensure.ts'
import {
  chargeCalls,
  chargedParts,
  chargeQuantity,
  chargeTokens,
  exactOf,
  exactUnits,
} from './charge.ts'
import type { CostTerms } from './prices/cost-book.ts'
import { plainSum, tierFor } from './rates.ts'

const one = 1_000_000_000n
const million = 1_000_000n

/** Amounts times a factor in billionths, half up. */
export const timesFactor = (nanos: bigint, factorNanos: bigint | undefined): bigint =>
  factorNanos === undefined ? nanos : (nanos * factorNanos + one / 2n) / one

/** How a part of the usage is paid that another model used: its cost, and which terms of it apply. */
interface OtherCost {
  cost: CostTerms
  applied?: Applied | undefined
}

export function costTokens(
  { terms, factorNanos }: CostTerms,
  usage: TokenUsage,
  applied?: Applied,
  costOf?: (model: string) => OtherCost | undefined,
): bigint {
  ensure(terms.unit === 'token', 'token usage is paid by tokens')
  const isPlain = applied === undefined && usage.parts === undefined && usage.others === undefined
  if (isPlain && factorNanos === undefined) return chargeTokens(terms, usage)
  if (isPlain) {
    const tokens = plainSum(tierFor(terms.tiers, usage.inputTokens), usage)
    const calls = usage.toolCalls === undefined ? 0n : chargeCalls(terms, usage.toolCalls)
    const exact = (tokens + calls * million) * factorNanos!
    return (exact + (million * one) / 2n) / (million * one)
  }
  const own: OtherCost = { cost: { terms, ...(factorNanos !== undefined && { factorNanos }) } }
  const others = new Map(
    usage.others?.map(({ model, priceId }) => [priceId, costOf?.(model) ?? own] as const),
  )
  let exact = 0n
  const parts = chargedParts(terms, usage, applied, (id) => others.get(id)?.cost.terms)
  for (const [index, part] of parts.entries()) {
    const other = index === 0 ? undefined : others.get(usage.others![index - 1]!.priceId)!
    const factor = other === undefined ? factorNanos : other.cost.factorNanos
    const exactPart = exactOf(other === undefined ? part : { ...part, applied: other.applied })
    exact += exactPart * (factor ?? one)
  }
  const unit = exactUnits * one
  return (exact + unit / 2n) / unit
}

/** Of searches, characters or seconds. Undefined: the terms are for something else, or it was not counted. */
export function costQuantity(
  { terms, factorNanos }: CostTerms,
  { quantity }: TokenUsage,
  atMs: number,
): bigint | undefined {
  if (quantity === undefined && terms.unit !== 'free') return undefined
  const nanos = chargeQuantity(terms, quantity ?? 0, hoursAt(terms, atMs))
  return nanos === undefined ? undefined : timesFactor(nanos, factorNanos)
}
