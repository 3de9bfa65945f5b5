// What the upstream of a channel takes for the usage of one answer: of a call, or of a background response.
import { costQuantity, costTokens } from '../../billing/cost.ts'
import type { CostBook } from '../../billing/prices/cost-book.ts'
import type { AskedTerm } from '../../contract/requests.ts'
import type { ServedAs, TokenUsage } from '../../contract/usage.ts'
import { appliedAt, termsOfAnswer } from './price-reach.ts'

/** An answer, and how it came about. */
interface Answered {
  model: { name: string; pricedAs: string }
  channel: string
  /** When it was admitted: that version applies. */
  atMs: number
  usage: TokenUsage
  served: ServedAs | undefined
  /** Terms that were asked for and went upstream. */
  asks: readonly AskedTerm[] | undefined
  /** The name under which another model of the usage is priced. */
  pricedAs?(name: string): string
}

/** Undefined: not known. */
export function costOfAnswer(costs: CostBook, answered: Answered): bigint | undefined {
  const { model, channel, atMs, usage, served, asks } = answered
  const cost = costs.find(model, channel, atMs)
  if (cost === undefined) return undefined
  if (cost.terms.unit !== 'token') return costQuantity(cost, usage, atMs)
  const atArrival = appliedAt(cost.terms, atMs)
  const isPlain = asks === undefined && served === undefined
  const applied = isPlain ? atArrival : termsOfAnswer(cost.terms, atArrival, asks, served).applied
  if (usage.others === undefined) return costTokens(cost, usage, applied)
  return costTokens(cost, usage, applied, (name) => {
    const other = costs.find({ name, pricedAs: answered.pricedAs?.(name) ?? name }, channel, atMs)
    if (other?.terms.unit !== 'token') return undefined
    return { cost: other, applied: appliedAt(other.terms, atMs) }
  })
}
