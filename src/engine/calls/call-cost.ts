// What upstreams take for the attempts of a call, noted on its row: of every attempt that was served, whether
// or not the caller pays for it.
import type { AskedTerm } from '../../contract/requests.ts'
import type { ServedAs, TokenUsage } from '../../contract/usage.ts'
import { costOfAnswer } from '../admission/usage-cost.ts'
import type { OpenCall } from './open-call.ts'

/**
 * Adds an attempt at a channel, and says what it costs; undefined: not known, which makes the cost of the call
 * unknown.
 */
export function addCost(
  open: OpenCall,
  channel: string,
  usage: TokenUsage,
  served: ServedAs | undefined,
): bigint | undefined {
  const { record, engine } = open
  const nanos = engine.costs.isEmpty ? undefined : costAt(open, channel, usage, served)
  if (record.costNanos === null) return nanos
  record.costNanos = nanos === undefined ? null : (record.costNanos ?? 0n) + nanos
  return nanos
}

/** The same of an attempt that failed, which the statement of another channel may have. */
export function addFailedCost(open: OpenCall, ...attempt: Attempted): string | null {
  const nanos = addCost(open, ...attempt)
  if (nanos === undefined) return null
  const { detail } = open.record
  if (nanos > 0n) detail.failedCostNanos = (BigInt(detail.failedCostNanos ?? 0) + nanos).toString()
  return nanos.toString()
}

type Attempted = [channel: string, usage: TokenUsage, served: ServedAs | undefined]

function costAt(
  open: OpenCall,
  channel: string,
  usage: TokenUsage,
  served: ServedAs | undefined,
): bigint | undefined {
  const { engine, call, price, served: member, record } = open
  return costOfAnswer(engine.costs, {
    model:
      member === undefined
        ? { name: call.model, pricedAs: price.model }
        : { name: member.name, pricedAs: member.pricedAs ?? member.name },
    channel,
    atMs: record.atMs,
    usage,
    served,
    asks: call.asks === undefined ? undefined : sentAsks(open),
    pricedAs: (name) => engine.catalog.models.get(name)?.pricedAs ?? name,
  })
}

/** Those of the terms that were asked for that went upstream. */
export function sentAsks({ call, record }: OpenCall): readonly AskedTerm[] | undefined {
  const lost = record.detail.translationLosses
  return call.asks?.filter(({ param }) => !lost?.includes(param))
}
