// The usage that a text call is charged for: as the upstream reported it, with missing sides counted, and
// without what neither the request nor the answer explains. The rest is a loss on its request log row.
import { addLoss } from '../../billing/call-loss.ts'
import { chargeQuantity, chargeTokens, type TermsOf } from '../../billing/charge.ts'
import type { Route } from '../../catalog/snapshot.ts'
import type { StreamWatcher, UpstreamError } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import {
  type NamedUsage,
  type OtherUsage,
  partsWithin,
  type ReportedUsage,
  type TokenUsage,
} from '../../contract/usage.ts'
import { appliedAt } from '../admission/price-reach.ts'
import type { TextBounds } from '../admission/text-bounds.ts'
import { addFailedCost } from './call-cost.ts'
import { isId } from './clean-error.ts'
import type { CallDeps, OpenCall } from './open-call.ts'

/** Usage with missing sides filled in. */
export function completeUsage(
  reported: ReportedUsage | undefined,
  inputTokens: number,
  outputTokens: () => number,
): TokenUsage {
  if (reported === undefined) {
    return { inputTokens, outputTokens: outputTokens(), cacheReadTokens: 0, cacheWriteTokens: 0 }
  }
  const { cacheReadTokens, cacheWriteTokens, parts, toolCalls } = reported
  const usage: TokenUsage = {
    inputTokens: reported.inputTokens ?? Math.max(inputTokens, cacheReadTokens + cacheWriteTokens),
    outputTokens: reported.outputTokens ?? outputTokens(),
    cacheReadTokens,
    cacheWriteTokens,
  }
  if (parts !== undefined) usage.parts = parts
  if (toolCalls !== undefined) usage.toolCalls = toolCalls
  return usage
}

/**
 * Parts of the usage that the answer names other models for, at the prices of those. What the catalog does not
 * price is charged as the model's own.
 */
export function othersAmong(
  { engine, call, served, price, record, accountId, admittedMs }: OpenCall,
  named: readonly NamedUsage[],
): readonly OtherUsage[] | undefined {
  const own = [call.model, served?.name, record.detail.upstreamModel, price.model]
  const channel = engine.catalog.channels.find(({ name }) => name === record.channel)
  const found = named.flatMap((usage): OtherUsage[] => {
    if (own.includes(usage.model)) return []
    const model = gatewayName(channel?.models ?? {}, usage.model)
    const its = engine.catalog.models.has(model)
      ? engine.prices.at(model, accountId, admittedMs)
      : undefined
    if (its?.terms.unit !== 'token' || its.id === price.id) return []
    const applied = appliedAt(its.terms, admittedMs)
    return [{ ...usage, model, priceId: its.id, ...(applied !== undefined && { applied }) }]
  })
  return found.length === 0 ? undefined : found
}

/** The name under which a channel offers a model of its upstream. */
const gatewayName = (models: Readonly<Record<string, string>>, upstreamModel: string): string =>
  Object.keys(models).find((name) => models[name] === upstreamModel) ?? upstreamModel

export const isComplete = (usage: ReportedUsage | undefined): boolean =>
  usage?.inputTokens !== undefined && usage.outputTokens !== undefined

type Bounds = Pick<TextBounds, 'windowTokens' | 'outputTokens'>

/**
 * The part of the usage that its caller pays; the same object when that is all. Output above the bound is
 * paid as far as it was reported as reasoning or delivered as text, by the gateway's own count.
 */
export function payable(
  usage: TokenUsage,
  bounds: Bounds,
  reported: ReportedUsage | undefined,
  countOutputTokens: () => number,
): TokenUsage {
  const { windowTokens, outputTokens: maxOutput } = bounds
  const isOver = usage.outputTokens > maxOutput
  if (usage.inputTokens <= windowTokens && !isOver) return usage
  const given = isOver ? (reported?.reasoningTokens ?? 0) + countOutputTokens() : 0
  const outputTokens = Math.min(usage.outputTokens, Math.max(maxOutput, given))
  if (usage.inputTokens <= windowTokens && outputTokens === usage.outputTokens) return usage
  return cutCounts(usage, Math.min(usage.inputTokens, windowTokens), outputTokens)
}

/** With no more input and output; what other models used is charged as the model's own then. */
function cutCounts(
  { cacheReadTokens: read, cacheWriteTokens: written, parts, toolCalls }: TokenUsage,
  inputTokens: number,
  outputTokens: number,
): TokenUsage {
  const cacheReadTokens = Math.min(read, inputTokens)
  const cacheWriteTokens = Math.min(written, inputTokens - cacheReadTokens)
  const cut: TokenUsage = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }
  const within = parts && partsWithin(parts, cut)
  if (within !== undefined) cut.parts = within
  if (toolCalls !== undefined) cut.toolCalls = toolCalls
  return cut
}

export const tokensOf = ({ inputTokens, outputTokens }: TokenUsage): number =>
  inputTokens + outputTokens

interface Cost {
  nanos: bigint
  quantity: number
}

export function costOf({ price, applied, engine }: OpenCall, usage: TokenUsage): Cost {
  const { terms } = price
  if (terms.unit !== 'token') {
    const { quantity = 0 } = usage
    return { nanos: chargeQuantity(terms, quantity, applied?.hours) ?? 0n, quantity }
  }
  const termsOf = usage.others === undefined ? undefined : termsIn(engine)
  return { nanos: chargeTokens(terms, usage, applied, termsOf), quantity: tokensOf(usage) }
}

const termsIn =
  ({ prices }: Pick<CallDeps, 'prices'>): TermsOf =>
  (id) =>
    prices.byId(id)?.terms

/**
 * The usage of a call by searches, characters or seconds: as reported, else as the request has it. Tokens are
 * for the log, where the upstream reports them.
 */
export function quantityUsage(
  reported: ReportedUsage | undefined,
  { quantity }: TextCall,
): TokenUsage {
  const { inputTokens = 0, outputTokens = 0 } = reported ?? {}
  return {
    inputTokens,
    outputTokens,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    quantity: reported?.quantity ?? quantity?.counted ?? 0,
  }
}

interface EndedAttempt {
  readonly route: Route
  readonly cancelled: boolean
  readonly isAbandoned: boolean
  readonly deadline: { readonly expired: boolean }
}

/** An attempt that failed after the upstream had accepted it. Must be recorded before it ends. */
export function addFailedLoss(
  open: OpenCall,
  { route, cancelled, isAbandoned, deadline }: EndedAttempt,
  {
    begun,
    outputTokens = 0,
    usage: reportedUsage,
    upstreamRequestId: id,
    httpStatus,
  }: UpstreamError,
  watcher: StreamWatcher | undefined,
): void {
  const counted = watcher?.countOutputTokens() ?? outputTokens
  const usage = reportedUsage ?? watcher?.reported.usage
  // One that was read on for a caller that had left may have been served.
  const mayBeServed = begun === true || (isAbandoned && cancelled)
  if (!mayBeServed && counted === 0 && usage === undefined) return
  const { call, record, price } = open
  const isByTokens = price.terms.unit === 'token'
  // As reported, and else by count.
  const used = isByTokens
    ? completeUsage(usage, call.inputTokens, () => counted)
    : quantityUsage(usage, call)
  const isServed = usage !== undefined && !(httpStatus !== undefined && httpStatus >= 500)
  const costNanos = isServed
    ? addFailedCost(open, route.channel.name, used, watcher?.reported.served)
    : undefined
  const { nanos, quantity } = costOf(open, used)
  const part = {
    reason: cancelled && !deadline.expired ? 'caller_left' : 'failed_after_cost',
    channel: route.channel.name,
    ...(id !== undefined && isId(id) && { upstreamId: id }),
    unit: price.terms.unit,
    quantity,
    ...((isByTokens ? !isComplete(usage) : usage?.quantity === undefined) && { estimated: true }),
    ...(costNanos !== undefined && { costNanos, upstreamModel: route.upstreamModel }),
  } as const
  addLoss(record.detail, part, nanos)
}

/** An answer, or a part of one, that the account could not pay, or that its caller need not. */
export function addUnpaid(
  { price, record: { channel = '', upstreamRequestId, detail } }: OpenCall,
  reason: 'not_delivered' | 'implausible_usage',
  { nanos, quantity }: Cost,
  isEstimate: boolean,
): void {
  const part = {
    reason,
    channel,
    ...(upstreamRequestId !== undefined && { upstreamId: upstreamRequestId }),
    unit: price.terms.unit,
    quantity,
    ...(isEstimate && { estimated: true }),
  }
  addLoss(detail, part, nanos)
}
