// Ends the hold of a text call: charges an answer, or releases the hold when there is none. The part
// of a charge above the hold comes from the account's free balance; an account gets one answer that
// its balance does not cover, and no other before its next credit.
import { tierLabel } from '../../billing/charge-label.ts'
import type { ChargeLabels } from '../../billing/end-hold.ts'
import type { Settled } from '../../billing/ledger.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { Reported, UpstreamError } from '../../contract/provider.ts'
import type { CallEnding, RequestRecord } from '../../contract/requests.ts'
import type { TokenUsage } from '../../contract/usage.ts'
import { trimmed } from '../../lib/json/trim.ts'
import { atOwnTier, termsOfAnswer } from '../admission/price-reach.ts'
import { withChargedCalls } from '../admission/server-tools.ts'
import { addCost, sentAsks } from './call-cost.ts'
import {
  endRecord,
  type RecordDeps,
  recordEnd,
  recordHangUp,
  recordUnbilled,
} from './call-record.ts'
import {
  addUnpaid,
  completeUsage,
  costOf,
  isComplete,
  othersAmong,
  payable,
  quantityUsage,
  tokensOf,
} from './charged-usage.ts'
import type { OpenCall } from './open-call.ts'
import { recordImplausible, recordUnpriced } from './usage-alerts.ts'

export type SettledEnding = Extract<CallEnding, 'complete' | 'caller_left' | 'cut_short'>

/**
 * Charges what was produced; durable when this resolves. Usage that is missing is counted. What of it the
 * caller need not pay is a loss: charge and losses together are the price of what was reported. A refusal:
 * the caller gets no answer, or no end of its stream.
 */
export async function settleCall(
  open: OpenCall,
  reported: Reported,
  countOutputTokens: () => number,
  ending: SettledEnding,
): Promise<undefined | Refusal> {
  const { engine, record } = open
  const isEstimate = isEstimated(open, reported, ending)
  if (open.call.asks !== undefined || reported.served !== undefined) {
    applyServed(open, reported.served)
  }
  const usage = paidOf(open, reported, countOutputTokens)
  if (reported.raw !== undefined) record.detail.reported = trimmed(reported.raw)
  open.pass.leave(
    usage.quantity === undefined ? tokensOf(usage) : tokensOf(usage) || open.call.inputTokens,
  )
  try {
    const settled = await charge(open, usage, isEstimate, ending)
    if (settled === 'already_short') {
      return await withhold(open, usage, isEstimate, countOutputTokens)
    }
    recordEnd(engine, record)
    return undefined
  } catch (error) {
    engine.log.error('a charge could not be written', { request_id: record.requestId, error })
    await engine.ledger.voidCall(record)
    recordVoided(engine, record)
    return refuse('overloaded', 'the gateway could not record this call, so it is not answered', {
      retryAfterSeconds: 2,
      cause: error,
    })
  }
}

/** From here on its terms are those by which it was served. */
function applyServed(open: OpenCall, served: Reported['served']): void {
  const { price, call } = open
  const { applied, unknown } = termsOfAnswer(price.terms, open.applied, sentAsks(open), served)
  const own = open.ctx.own?.serviceTier
  open.applied = own === undefined ? applied : atOwnTier(price.terms, applied, call.asks, own)
  if (unknown !== undefined) recordUnpriced(open, unknown)
}

const isEstimated = (
  { price, call }: OpenCall,
  { usage }: Reported,
  ending: SettledEnding,
): boolean =>
  price.terms.unit === 'token'
    ? ending === 'cut_short' || !isComplete(usage)
    : usage?.quantity === undefined && call.quantity?.isEstimate === true

/** What the caller pays of the usage; the rest is booked as a loss, and raised as an alert. */
function paidOf(open: OpenCall, reported: Reported, countOutputTokens: () => number): TokenUsage {
  const { bounds, price, call } = open
  if (price.terms.unit !== 'token') return paidQuantity(open, reported)
  const claimed = completeUsage(reported.usage, call.inputTokens, countOutputTokens)
  const others = reported.usage?.named && othersAmong(open, reported.usage.named)
  if (others !== undefined) claimed.others = others
  addCost(open, open.record.channel!, claimed, reported.served)
  const allowed = payable(claimed, bounds, reported.usage, countOutputTokens)
  const paid = withChargedCalls(allowed, price.terms, bounds.toolUses)
  if (paid === claimed) return claimed
  const [all, some] = [costOf(open, claimed), costOf(open, paid)]
  // Calls of tools without a price, or a price by which more input costs less.
  if (some.nanos >= all.nanos) return withChargedCalls(claimed, price.terms, undefined)
  const rest = { nanos: all.nanos - some.nanos, quantity: all.quantity - some.quantity }
  addUnpaid(open, 'implausible_usage', rest, false)
  recordImplausible(open, claimed, paid)
  return paid
}

/** The same of searches, characters and seconds. */
function paidQuantity(open: OpenCall, reported: Reported): TokenUsage {
  const claimed = quantityUsage(reported.usage, open.call)
  addCost(open, open.record.channel!, claimed, reported.served)
  const { quantity = 0 } = claimed
  const max = open.call.quantity?.plausible ?? 0
  if (quantity <= max) return claimed
  const paid = { ...claimed, quantity: max }
  const nanos = costOf(open, claimed).nanos - costOf(open, paid).nanos
  addUnpaid(open, 'implausible_usage', { nanos, quantity: quantity - max }, false)
  recordImplausible(open, claimed, paid)
  return paid
}

function charge(
  open: OpenCall,
  usage: TokenUsage,
  isEstimate: boolean,
  ending: SettledEnding,
): Promise<Settled> {
  const { engine, call, price, applied, hold, record } = open
  const { detail } = record
  endRecord(engine, record, ending, ending === 'caller_left' ? 499 : 200)
  record.usage = usage
  if (isEstimate) detail.estimated = true
  if (usage.toolCalls !== undefined) detail.toolCalls = usage.toolCalls
  if (usage.parts !== undefined) detail.parts = usage.parts
  if (usage.others !== undefined) detail.others = usage.others
  if (applied !== undefined) detail.applied = applied
  const labels: ChargeLabels = {
    model: call.model,
    unit: price.terms.unit,
    quantity: usage.quantity ?? tokensOf(usage),
    priceId: price.id,
  }
  const tier = tierLabel(price.terms, usage, applied)
  if (detail.servedModel !== undefined) labels.servedModel = detail.servedModel
  if (tier !== undefined) labels.tier = tier
  if (applied?.serviceTier !== undefined) labels.serviceTier = applied.serviceTier
  if (isEstimate) labels.estimated = true
  return engine.ledger.settle(hold, costOf(open, usage).nanos, record, labels)
}

/**
 * The account has had its one answer beyond the balance. An answer that has not left is not delivered
 * and costs nothing. A stream ends here: what it has delivered is charged by the gateway's own count,
 * which its hold covers. The rest is a loss.
 */
async function withhold(
  open: OpenCall,
  usage: TokenUsage,
  isEstimate: boolean,
  countOutputTokens: () => number,
): Promise<Refusal> {
  const { engine, record } = open
  let rest = costOf(open, usage)
  delete record.detail.toolCalls
  delete record.detail.parts
  delete record.detail.others
  delete record.detail.applied
  if (record.detail.stream) {
    const delivered = deliveredOf(open, countOutputTokens)
    const paid = costOf(open, delivered)
    if (paid.nanos < rest.nanos) {
      const quantity = Math.max(0, rest.quantity - paid.quantity)
      const left = { nanos: rest.nanos - paid.nanos, quantity }
      addUnpaid(open, 'not_delivered', left, isEstimate)
      rest = paid
      const ending = record.detail.ending === 'caller_left' ? 'caller_left' : 'cut_short'
      if ((await charge(open, delivered, true, ending)) === 'charged') {
        recordEnd(engine, record)
        return streamEnded
      }
    }
  }
  engine.ledger.release(open.hold)
  addUnpaid(open, 'not_delivered', rest, isEstimate)
  delete record.usage
  delete record.detail.estimated
  return recordUnbilled(engine, record, 'failed', notDelivered)
}

/** What a stream has delivered, by the gateway's own count; no more than the hold is for. */
function deliveredOf(
  { call, bounds, price }: OpenCall,
  countOutputTokens: () => number,
): TokenUsage {
  if (price.terms.unit !== 'token') return quantityUsage(undefined, call)
  const own = completeUsage(undefined, call.inputTokens, countOutputTokens)
  return payable(own, bounds, undefined, () => 0)
}

const notDelivered = refuse(
  'insufficient_quota',
  'the answer costs more than the account has left; it is not delivered and not charged',
)

const streamEnded = refuse(
  'insufficient_quota',
  'the answer costs more than the account has left; the stream ends here, and what it delivered is charged',
)

/** As its caller sees it: the row itself says what was done. */
const recordVoided = (engine: RecordDeps, record: RequestRecord): void => {
  const { usage: _, ...shown } = record
  recordEnd(engine, { ...shown, status: 503, errorCode: 'overloaded', chargeNanos: 0n })
  const { accountId, requestId: ref, channel = '', model, atMs, chargeNanos } = record
  const what = { accountId, ref, channel, model, atMs, amountNanos: chargeNanos }
  engine.jobs.lossAlerts.announce({ ...what, reason: 'not_delivered', isEstimate: false })
}

/** Nothing useful was produced: nothing is charged. */
export const giveUp = (open: OpenCall, error: UpstreamError, hasLeft: boolean): Refusal =>
  release(open, 'failed', refusalOf(error), hasLeft)

export const refusalOf = (error: UpstreamError): Refusal => {
  const { code, message, upstreamRequestId, retryAfterSeconds, param, reason } = error
  return refuse(code, message, {
    ...(param !== undefined && { param }),
    ...(reason !== undefined && { reason }),
    ...(upstreamRequestId !== undefined && { upstreamRequestId }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
}

/** No channel took it. */
export const refuseUnsent = (open: OpenCall, refusal: Refusal): Refusal =>
  release(open, 'refused', refusal, open.ctx.signal.aborted)

/** As if it had not been made: it is made again. */
export function forget({ engine, hold, pass }: OpenCall, refusal: Refusal): Refusal {
  engine.ledger.release(hold)
  pass.leave(undefined)
  return refusal
}

function release(open: OpenCall, ending: CallEnding, refusal: Refusal, hasLeft: boolean): Refusal {
  forget(open, refusal)
  const { engine, record } = open
  if (!hasLeft) return recordUnbilled(engine, record, ending, refusal)
  recordHangUp(engine, record)
  return refusal
}
