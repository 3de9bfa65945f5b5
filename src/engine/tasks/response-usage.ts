// The usage that a background response is charged for, by the price and the bounds of its admission. What its
// caller need not pay of the usage that was reported is a loss, as with any text call.
import { chargeTokens } from '../../billing/charge.ts'
import type { CostBook } from '../../billing/prices/cost-book.ts'
import type { Loss } from '../../contract/ledger.ts'
import type { Applied, PriceTerms } from '../../contract/price.ts'
import type { MadeAnswer } from '../../contract/provider.ts'
import { type ResponseTask, servingModel, type TaskUsage } from '../../contract/task.ts'
import type { TokenUsage } from '../../contract/usage.ts'
import { appliedAt, termsOfAnswer, type Unknown } from '../admission/price-reach.ts'
import { withChargedCalls } from '../admission/server-tools.ts'
import { costOfAnswer } from '../admission/usage-cost.ts'
import { completeUsage, isComplete, payable, tokensOf } from '../calls/charged-usage.ts'

interface ResponseUsage {
  usage: TaskUsage
  /** The gateway has counted a part of it. */
  estimated: boolean
  /** Tokens that were reported and cannot be. */
  implausible?: number
  losses: Loss[]
  /** What the answer names and the price does not. */
  unknown?: Unknown
}

/** What the upstream takes for it, by all that it reported. Undefined: not known. */
export function responseCost(
  costs: CostBook,
  task: ResponseTask,
  { reported, outputTokens }: MadeAnswer,
  pricedAs: string,
): bigint | undefined {
  const { channel, createdAtMs: atMs, request } = task
  return costOfAnswer(costs, {
    model: { name: servingModel(task), pricedAs },
    channel,
    atMs,
    usage: completeUsage(reported.usage, request.inputTokens, () => outputTokens),
    served: reported.served,
    asks: request.asks,
  })
}

export function responseUsage(
  terms: PriceTerms,
  task: ResponseTask,
  answer: MadeAnswer,
  nowMs: number,
): ResponseUsage {
  const admitted = appliedAt(terms, task.createdAtMs)
  const { asks } = task.request
  const { applied, unknown } = termsOfAnswer(terms, admitted, asks, answer.reported.served)
  const used = usageAt(terms, applied, task, answer, nowMs)
  return unknown === undefined ? used : { ...used, unknown }
}

function usageAt(
  terms: PriceTerms,
  applied: Applied | undefined,
  task: ResponseTask,
  { reported, outputTokens }: MadeAnswer,
  nowMs: number,
): ResponseUsage {
  const { bounds, inputTokens } = task.request
  const estimated = !isComplete(reported.usage)
  const claimed = completeUsage(reported.usage, inputTokens, () => outputTokens)
  const usageOf = (tokens: TokenUsage): TaskUsage => ({
    tokens,
    ...(applied !== undefined && { applied }),
  })
  const allowed =
    bounds === undefined ? claimed : payable(claimed, bounds, reported.usage, () => outputTokens)
  const paid = withChargedCalls(allowed, terms, bounds?.toolUses)
  if (paid === claimed) return { usage: usageOf(claimed), estimated, losses: [] }
  const unpaidNanos = chargeTokens(terms, claimed, applied) - chargeTokens(terms, paid, applied)
  if (unpaidNanos <= 0n) {
    const usage = usageOf(withChargedCalls(claimed, terms, undefined))
    return { usage, estimated, losses: [] }
  }
  const { id: ref, accountId, channel, model, upstreamId } = task
  const loss: Loss = {
    ...{ atMs: nowMs, accountId, ref, channel, model },
    ...(upstreamId !== undefined && { upstreamId }),
    reason: 'implausible_usage',
    unit: 'token',
    quantity: tokensOf(claimed) - tokensOf(paid),
    amountNanos: unpaidNanos,
    isEstimate: false,
  }
  const implausible = tokensOf(claimed) > tokensOf(paid) && { implausible: tokensOf(claimed) }
  return { usage: usageOf(paid), estimated, losses: [loss], ...implausible }
}
