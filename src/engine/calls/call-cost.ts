// What upstreams take for the attempts of a call, noted on its row: of every attempt that was served, whether
// or not the caller pays for it.
import { costQuantity, costTokens } from '../../billing/cost.ts'
import type { AskedTerm } from '../../contract/requests.ts'
import type { ServedAs, TokenUsage } from '../../contract/usage.ts'
import { appliedAt, termsOfAnswer } from '../admission/price-reach.ts'
import type { OpenCall } from './open-call.ts'

/** Adds an attempt at a channel. A cost that is not known makes that of the call unknown. */
export function addCost(
  open: OpenCall,
  channel: string,
  usage: TokenUsage,
  served: ServedAs | undefined,
): void {
  const { record, engine } = open
  if (record.costNanos === null) return
  const nanos = engine.costs.isEmpty ? undefined : costAt(open, channel, usage, served)
  record.costNanos = nanos === undefined ? null : (record.costNanos ?? 0n) + nanos
}

function costAt(
  open: OpenCall,
  channel: string,
  usage: TokenUsage,
  served: ServedAs | undefined,
): bigint | undefined {
  const { engine, call, price, served: member, record } = open
  const model =
    member === undefined
      ? { name: call.model, pricedAs: price.model }
      : { name: member.name, pricedAs: member.pricedAs ?? member.name }
  const cost = engine.costs.find(model, channel, record.atMs)
  if (cost === undefined) return undefined
  if (cost.terms.unit !== 'token') return costQuantity(cost, usage, record.atMs)
  const atArrival = appliedAt(cost.terms, record.atMs)
  const isPlain = call.asks === undefined && served === undefined
  const applied = isPlain
    ? atArrival
    : termsOfAnswer(cost.terms, atArrival, sentAsks(open), served).applied
  if (usage.others === undefined) return costTokens(cost, usage, applied)
  return costTokens(cost, usage, applied, (name) => {
    const pricedAs = engine.catalog.models.get(name)?.pricedAs ?? name
    const other = engine.costs.find({ name, pricedAs }, channel, record.atMs)
    if (other?.terms.unit !== 'token') return undefined
    return { cost: other, applied: appliedAt(other.terms, record.atMs) }
  })
}

/** Those of the terms that were asked for that went upstream. */
export function sentAsks({ call, record }: OpenCall): readonly AskedTerm[] | undefined {
  const lost = record.detail.translationLosses
  return call.asks?.filter(({ param }) => !lost?.includes(param))
}
