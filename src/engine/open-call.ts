// A call between admission and its end: the upstream work is guarded, and exactly one of settle and
// fail ends its hold.
import { chargeTokens } from '../billing/charge.ts'
import { type Refusal, refuse } from '../contract/errors.ts'
import type { TextProvider, UpstreamError } from '../contract/provider.ts'
import type { RequestRecord, TextCall } from '../contract/requests.ts'
import type { TokenUsage } from '../contract/usage.ts'
import { Cancellation } from '../lib/cancellation.ts'
import { ensure } from '../lib/ensure.ts'
import type { Admission } from './admit.ts'
import {
  cleaned,
  endRecord,
  noteAdmission,
  noteAttempt,
  recordHangUp,
  recordUnbilled,
} from './call-record.ts'
import type { Deadline } from './deadlines.ts'
import type { CallContext, Engine } from './engine.ts'

/** A call that has been admitted and is on its way. */
export interface OpenCall {
  readonly engine: Engine
  readonly ctx: CallContext
  readonly call: TextCall
  readonly admission: Admission
  readonly record: RequestRecord
  readonly provider: TextProvider
  readonly stop: Cancellation
  readonly deadline: Deadline
  readonly startedMs: number
}

export function begin(
  engine: Engine,
  ctx: CallContext,
  call: TextCall,
  admission: Admission,
  record: RequestRecord,
): OpenCall {
  const { route } = admission
  const provider = engine.providers.get(route.protocol)?.text
  ensure(provider !== undefined, `provider ${route.protocol} speaks text`)
  noteAdmission(record, admission)
  engine.busy.set(route.channel.id, (engine.busy.get(route.channel.id) ?? 0) + 1)
  engine.running++
  const stop = new Cancellation()
  const deadline = engine.deadlines.start(route.channel.timeouts, stop)
  const startedMs = engine.clock.nowMs()
  return { engine, ctx, call, admission, record, provider, stop, deadline, startedMs }
}

/** The upstream work is over, however it went; money is settled apart. */
export function end({ engine, admission, deadline }: OpenCall): void {
  deadline.end()
  const { id } = admission.route.channel
  engine.busy.set(id, (engine.busy.get(id) ?? 1) - 1)
  engine.running--
}

/** Nothing of use was produced: the hold is released and nothing is charged. */
export function failCall(open: OpenCall, raw: UpstreamError): Refusal {
  const { engine, ctx, call, admission, record, startedMs } = open
  end(open)
  // An upstream that goes on after its own error must not keep a connection nobody reads.
  open.stop.cancel()
  engine.ledger.release(admission.hold)
  const sent = call.body.replaceAll('\\/', '/')
  const left = ctx.signal.aborted && !open.deadline.expired
  const error = cleaned(engine, left ? callerLeft : (timedOut(open) ?? raw), sent)
  noteAttempt(engine, record, startedMs, {
    ...(error.httpStatus !== undefined && { status: error.httpStatus }),
    error: error.message,
    upstreamRequestId: error.upstreamRequestId,
  })
  const refusal = refuse(error.code, error.message, {
    ...(error.upstreamRequestId !== undefined && { upstreamRequestId: error.upstreamRequestId }),
    ...(error.retryAfterSeconds !== undefined && { retryAfterSeconds: error.retryAfterSeconds }),
  })
  if (left) {
    recordHangUp(engine, record)
    return refusal
  }
  engine.log.info('upstream failed', {
    request_id: ctx.requestId,
    channel: record.channel,
    code: error.code,
    status: error.httpStatus,
    error: error.message,
    cause: raw.cause instanceof Error ? raw.cause.message : raw.cause,
  })
  return recordUnbilled(engine, record, 'failed', refusal)
}

const callerLeft: UpstreamError = { code: 'upstream_error', message: 'the caller left' }

function timedOut({ deadline }: OpenCall): UpstreamError | undefined {
  if (!deadline.expired) return undefined
  return { code: 'upstream_timeout', message: 'the upstream did not answer in time' }
}

/** Charges what was produced; durable when this resolves. Usage that is missing is counted. */
export async function settleCall(
  { engine, call, admission, record }: OpenCall,
  reported: { usage: TokenUsage | undefined; raw: unknown },
  countOutputTokens: () => number,
  ending: 'complete' | 'caller_left',
): Promise<undefined | Refusal> {
  const estimated = reported.usage === undefined
  const usage = reported.usage ?? {
    inputTokens: call.inputTokens,
    outputTokens: countOutputTokens(),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  }
  endRecord(engine, record, ending, ending === 'complete' ? 200 : 499)
  record.usage = usage
  if (reported.raw !== undefined) record.detail.reported = reported.raw
  if (estimated) record.detail.estimated = true
  const { price, hold } = admission
  try {
    await engine.ledger.settle(hold, chargeTokens(price.terms, usage), record, {
      model: call.model,
      unit: 'token',
      quantity: usage.inputTokens + usage.outputTokens,
      priceId: price.id,
      ...(estimated && { estimated }),
    })
    return undefined
  } catch (error) {
    engine.log.error('a charge could not be written', { request_id: record.requestId, error })
    return refuse('overloaded', 'the gateway could not record this call, so it is not answered', {
      retryAfterSeconds: 2,
      cause: error,
    })
  }
}
