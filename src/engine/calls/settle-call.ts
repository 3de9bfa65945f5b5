// Charges an answered text call. The part above its hold comes from the account's free balance; an
// account gets one answer that its balance does not cover, and no other before its next credit.
import { addLoss } from '../../billing/call-loss.ts'
import { chargeTokens, tierLabel } from '../../billing/charge.ts'
import type { Settled } from '../../billing/ledger.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { Reported } from '../../contract/provider.ts'
import type { CallEnding, RequestRecord } from '../../contract/requests.ts'
import type { TokenUsage } from '../../contract/usage.ts'
import { trimmed } from '../../lib/json/trim.ts'
import type { Engine } from '../engine.ts'
import { endRecord, recordEnd, recordUnbilled } from './call-record.ts'
import { recordImplausible } from './implausible-usage.ts'
import type { OpenCall } from './open-call.ts'
import { completeUsage, isComplete, withinBounds } from './text-bounds.ts'

export type SettledEnding = Extract<CallEnding, 'complete' | 'caller_left' | 'cut_short'>

/** What a call has used, as it is to be charged. */
interface Counted {
  usage: TokenUsage
  isEstimate: boolean
}

/**
 * Charges what was produced; durable when this resolves. Usage that is missing is counted, and usage
 * that the request does not allow is cut to what it does. A refusal: the caller gets no answer, or no
 * end of its stream.
 */
export async function settleCall(
  open: OpenCall,
  reported: Reported,
  countOutputTokens: () => number,
  ending: SettledEnding,
): Promise<undefined | Refusal> {
  const { engine, call, admission, record } = open
  const isEstimate = ending === 'cut_short' || !isComplete(reported.usage)
  const complete = completeUsage(reported.usage, call.inputTokens, countOutputTokens)
  const usage = withinBounds(complete, admission.bounds)
  if (usage !== complete) recordImplausible(open, complete)
  if (reported.raw !== undefined) record.detail.reported = trimmed(reported.raw)
  admission.pass.leave(tokensOf(usage))
  const counted = { usage, isEstimate }
  try {
    if ((await charge(open, counted, ending)) === 'charged') return undefined
    return await withhold(open, counted, countOutputTokens)
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

const tokensOf = ({ inputTokens, outputTokens }: TokenUsage): number => inputTokens + outputTokens

async function charge(
  { engine, call, admission, record }: OpenCall,
  { usage, isEstimate }: Counted,
  ending: SettledEnding,
): Promise<Settled> {
  endRecord(engine, record, ending, ending === 'caller_left' ? 499 : 200)
  record.usage = usage
  if (isEstimate) record.detail.estimated = true
  const { price, hold } = admission
  const tier = tierLabel(price.terms, usage.inputTokens)
  const settled = await engine.ledger.settle(hold, chargeTokens(price.terms, usage), record, {
    model: call.model,
    unit: 'token',
    ...(tier !== undefined && { tier }),
    quantity: tokensOf(usage),
    priceId: price.id,
    ...(isEstimate && { estimated: true }),
  })
  if (settled === 'charged') recordEnd(engine, record)
  return settled
}

/**
 * The account has had its one answer beyond the balance. An answer that has not left is not delivered
 * and costs nothing. A stream ends here: what it has delivered is charged by the gateway's own count,
 * which its hold covers. The rest is a loss.
 */
async function withhold(
  open: OpenCall,
  counted: Counted,
  countOutputTokens: () => number,
): Promise<Refusal> {
  const { engine, call, admission, record } = open
  let rest = lossOf(open, counted.usage)
  if (record.detail.stream) {
    const own = completeUsage(undefined, call.inputTokens, countOutputTokens)
    const delivered = { usage: withinBounds(own, admission.bounds), isEstimate: true }
    const paid = lossOf(open, delivered.usage)
    if (paid.nanos < rest.nanos) {
      const quantity = Math.max(0, rest.quantity - paid.quantity)
      lose(record, { nanos: rest.nanos - paid.nanos, quantity }, counted)
      rest = paid
      const ending = record.detail.ending === 'caller_left' ? 'caller_left' : 'cut_short'
      if ((await charge(open, delivered, ending)) === 'charged') return streamEnded
    }
  }
  engine.ledger.release(admission.hold)
  lose(record, rest, counted)
  delete record.usage
  delete record.detail.estimated
  return recordUnbilled(engine, record, 'failed', notDelivered)
}

interface Rest {
  nanos: bigint
  quantity: number
}

const lossOf = ({ admission }: OpenCall, usage: TokenUsage): Rest => ({
  nanos: chargeTokens(admission.price.terms, usage),
  quantity: tokensOf(usage),
})

function lose(
  { channel = '', upstreamRequestId, detail }: RequestRecord,
  { nanos, quantity }: Rest,
  { isEstimate }: Counted,
): void {
  const part = {
    reason: 'not_delivered' as const,
    channel,
    ...(upstreamRequestId !== undefined && { upstreamId: upstreamRequestId }),
    unit: 'token',
    quantity,
    ...(isEstimate && { estimated: true }),
  }
  addLoss(detail, part, nanos)
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
const recordVoided = (engine: Engine, record: RequestRecord): void => {
  const { usage: _, ...rest } = record
  recordEnd(engine, { ...rest, status: 503, errorCode: 'overloaded', chargeNanos: 0n })
  const { accountId, requestId: ref, channel = '', model, atMs, chargeNanos } = record
  const what = { accountId, ref, channel, model, atMs, amountNanos: chargeNanos }
  engine.jobs.lossAlerts.announce({ ...what, reason: 'not_delivered', isEstimate: false })
}
