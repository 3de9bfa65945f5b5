// A call between admission and its end. It is tried at one channel, or at several in sequence;
// exactly one of settleCall (settle-call.ts) and giveUp ends its hold.
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { TextProvider, Upstream, UpstreamError } from '../../contract/provider.ts'
import type { RequestRecord, TextCall } from '../../contract/requests.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { ensure } from '../../lib/ensure.ts'
import type { Admission } from '../admission/admit.ts'
import type { CallContext, Engine } from '../engine.ts'
import { leavePlace } from '../routing/channel-places.ts'
import { dropProbes, recordFailure, recordSuccess } from '../routing/learn.ts'
import type { PickedRoute } from '../routing/pick-route.ts'
import { clientFor } from '../telemetry/traces/traced-client.ts'
import { recordAttempt, recordHangUp, recordRoute, recordUnbilled } from './call-record.ts'
import { cleaned } from './clean-error.ts'
import type { Deadline } from './deadlines.ts'
import { markFor } from './object-ids.ts'

/** One try at one channel. */
export interface TryingCall extends PickedRoute {
  /** The holder of its slot at the channel. */
  readonly accountId: string
  readonly provider: TextProvider
  readonly stop: Cancellation
  readonly deadline: Deadline
  readonly startedMs: number
}

/** A call that has been admitted and is in flight. */
export interface OpenCall {
  readonly engine: Engine
  readonly ctx: CallContext
  readonly call: TextCall
  readonly admission: Admission
  readonly record: RequestRecord
  trying: TryingCall
  /** By the monotonic clock: when it arrived, and the time spent at upstreams. */
  readonly beganMs: number
  upstreamMs: number
}

export function beginTry(
  engine: Engine,
  record: RequestRecord,
  { route, key, channelState, probe = false }: PickedRoute,
): TryingCall {
  const provider = engine.providers.get(route.protocol)?.text
  ensure(provider !== undefined, `provider ${route.protocol} speaks text`)
  recordRoute(record, route)
  const { accountId } = record
  channelState.take(accountId)
  engine.load.running++
  const stop = new Cancellation()
  const deadline = engine.deadlines.start(route.channel.timeouts, stop)
  const startedMs = engine.clock.nowMs()
  return { route, key, channelState, probe, accountId, provider, stop, deadline, startedMs }
}

export const upstreamOf = (
  engine: Engine,
  { route, key, deadline, provider }: TryingCall,
  { trace, token }: Pick<CallContext, 'trace' | 'token'>,
): Upstream => ({
  baseUrl: route.baseUrl,
  key,
  model: route.upstreamModel,
  timeouts: route.channel.timeouts,
  messages: route.channel.messages,
  http: trace === undefined ? engine.http : clientFor(engine.http, trace, route.channel),
  progress: deadline,
  ...(provider.handsOutIds && {
    markFor: (id) => markFor(engine.seal, token.accountId, { channel: route.channel, key }, id),
  }),
})

/** The upstream work of this try is over, whatever the outcome; money is settled separately. */
export function endTry(engine: Engine, trying: TryingCall): void {
  const { deadline, channelState, route, accountId } = trying
  deadline.end()
  engine.load.running--
  leavePlace(engine, route.channel, channelState, accountId)
}

/** A successful answer has begun. */
export const recordAnswer = ({ engine, trying, call }: OpenCall): void =>
  recordSuccess(engine, trying, call.model)

/** The try is over and its answer complete enough to be charged. */
export function endAnswered(open: OpenCall, upstreamRequestId: string | undefined): void {
  recordAttempt(open, { status: 200, upstreamRequestId })
  endTry(open.engine, open.trying)
  countAttempt(open)
}

/** The try has failed. Returns the failure as the caller may read it. */
export function endFailed(open: OpenCall, raw: UpstreamError): UpstreamError {
  const { engine, call, trying } = open
  endTry(engine, trying)
  // An upstream that keeps sending after its own error must not hold an unread connection open.
  trying.stop.cancel()
  const left = hasLeft(open)
  const { expired, stopped } = trying.deadline
  const failure = left ? callerLeft : stopped ? shuttingDown : expired ? timedOut : raw
  // Neither says anything about the channel.
  if (left || stopped) dropProbes(trying)
  else recordFailure(engine, trying, call.model, failure)
  const error = cleaned(engine, failure, call, trying.route)
  recordAttempt(open, {
    ...(error.httpStatus !== undefined && { status: error.httpStatus }),
    error: error.message,
    upstreamRequestId: error.upstreamRequestId,
  })
  countAttempt(open, left ? 'caller_left' : error.code)
  if (!left) logFailure(open, error, raw.cause)
  return error
}

const countAttempt = ({ engine, trying, record }: OpenCall, code?: string): void =>
  engine.meters?.attempt(trying.route.channel.name, record.detail.attempts.at(-1)!.ms, code)

export const hasLeft = ({ ctx, trying }: OpenCall): boolean =>
  ctx.signal.aborted && !trying.deadline.expired

const callerLeft: UpstreamError = { code: 'upstream_error', message: 'the caller left' }
const shuttingDown: UpstreamError = {
  code: 'overloaded',
  message: 'the gateway is shutting down',
  retryAfterSeconds: 2,
}
const timedOut: UpstreamError = {
  code: 'upstream_timeout',
  message: 'the upstream did not answer in time',
}

function logFailure({ engine, ctx, record }: OpenCall, error: UpstreamError, cause: unknown) {
  engine.log.info('upstream failed', {
    request_id: ctx.requestId,
    trace_id: ctx.trace?.traceId,
    channel: record.channel,
    code: error.code,
    // Its message may repeat the caller's text: only the request's row keeps it.
    status: error.httpStatus,
    cause: cause instanceof Error ? cause.message : cause,
  })
}

export const reportBug = ({ engine, ctx }: OpenCall, error: unknown): void =>
  engine.log.error('unexpected error', {
    request_id: ctx.requestId,
    trace_id: ctx.trace?.traceId,
    error,
  })

/** Nothing useful was produced: the hold is released and nothing is charged. */
export function giveUp(open: OpenCall, error: UpstreamError): Refusal {
  const { engine, ctx, record } = open
  release(open)
  const { upstreamRequestId, retryAfterSeconds } = error
  const refusal = refuse(error.code, error.message, {
    ...(upstreamRequestId !== undefined && { upstreamRequestId }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
  if (!ctx.signal.aborted || open.trying.deadline.expired) {
    return recordUnbilled(engine, record, 'failed', refusal)
  }
  recordHangUp(engine, record)
  return refusal
}

/** A call without any upstream work. */
export function release({ engine, admission }: Pick<OpenCall, 'engine' | 'admission'>): void {
  engine.ledger.release(admission.hold)
  admission.pass.leave(undefined)
}
