// Sends a call upstream: takes a slot at a channel, sends, and waits until the answer has begun. A
// channel that fails before the caller has received anything is followed by another, within the
// retry budget.
import type { Route } from '../../catalog/snapshot.ts'
import { Refusal } from '../../contract/errors.ts'
import type { StreamWatcher, TextReply, UpstreamError } from '../../contract/provider.ts'
import { type RequestRecord, sentAttempts } from '../../contract/requests.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { ensure } from '../../lib/ensure.ts'
import { mayTryMore, takeAmongMembers } from '../admission/next-member.ts'
import { leavePlace } from '../routing/channel-places.ts'
import { type FailureKind, failureKind } from '../routing/faults.ts'
import { isAboutRequest, recordFailure, recordSuccess } from '../routing/learn.ts'
import { type PickedRoute, Tried } from '../routing/pick-route.ts'
import { takePlace } from '../routing/take-place.ts'
import { addFailedLoss } from './call-losses.ts'
import { recordTranslation } from './call-record.ts'
import { cleaned } from './clean-error.ts'
import {
  type BegunStream,
  type CallDeps,
  type OpenCall,
  reportBug,
  type UpstreamAttempt,
} from './open-call.ts'
import { byOtherProtocol } from './other-protocol.ts'
import { firstBytes } from './read-stream.ts'
import { logFailure, recordAttempt, recordFailed } from './record-attempt.ts'
import { giveUp, refusalOf, refuseUnsent } from './settle-call.ts'
import { isStrict, realmOf, sizeAt, upstreamOf } from './upstream-of.ts'

/** Maximum attempts of a call, however many keys are left. */
const maxAttempts = 5

type GoodReply = Exclude<TextReply, { kind: 'failed' }>
type JsonReply = Extract<TextReply, { kind: 'json' }>

/** Tries channels in sequence until one answers or none is left. */
export async function sendCall(open: OpenCall): Promise<JsonReply | BegunStream | Refusal> {
  const { engine, ctx, call, record } = open
  findPlacement(open)
  const taken = takeNext(open)
  const picked = taken instanceof Promise ? await taken : taken
  if (picked instanceof Refusal) return refuseUnsent(open, picked)
  engine.routing.retries.recordCall()
  let attempt = beginAttempt(engine, record, picked)
  let causes: Causes | undefined
  for (;;) {
    const { provider, stop } = attempt
    ctx.signal.addEventListener('abort', stop)
    if (ctx.signal.aborted) stop.cancel()
    let reply: TextReply
    const sentMs = performance.now()
    try {
      const upstream = upstreamOf(engine, attempt, ctx, sizeAt(open, attempt))
      reply = await provider.send(call, upstream, stop)
    } catch (error) {
      reply = bugAsReply(open, error)
    }
    // Until something is sent, a failure is still a plain error, or leads to another channel.
    const first = reply.kind === 'stream' ? await firstBytes(open, attempt, reply) : undefined
    open.upstreamMs += performance.now() - sentMs
    ctx.signal.removeEventListener('abort', stop)
    const failure = failureOf(reply, first)
    if (failure === undefined) return answered(open, attempt, reply as GoodReply, first)
    const again = beginAgain(open, attempt, failure, watcherOf(reply))
    if (again !== undefined) {
      attempt = again
      continue
    }
    const error = failAttempt(open, attempt, failure, watcherOf(reply))
    causes = causesWith(causes, error)
    const next = await takeAnother(open, attempt, error)
    if (next === undefined || next instanceof Refusal) return end(open, attempt, causes, next)
    attempt = beginNext(open, picked.route, next)
  }
}

/** Why a call was not answered. */
interface Causes {
  /** Of the last channel that it was sent to. */
  failed?: UpstreamError
  /** The first reason why it could not be translated; another channel may carry it. */
  untranslated?: UpstreamError
}

const causesWith = (before: Causes | undefined, error: UpstreamError): Causes =>
  error.about === 'translation' ? { untranslated: error, ...before } : { ...before, failed: error }

/** `unavailable`: some channel that may carry it cannot be called now. */
const end = (
  open: OpenCall,
  attempt: UpstreamAttempt,
  { failed, untranslated }: Causes,
  unavailable: Refusal | undefined,
): Refusal =>
  failed === undefined
    ? refuseUnsent(open, unavailable ?? refusalOf(untranslated!))
    : giveUp(open, failed, hasLeft(open, attempt))

/** At the same place, which the call keeps: without seals, or by another protocol. */
function beginAgain(
  open: OpenCall,
  attempt: UpstreamAttempt,
  failure: UpstreamError,
  watcher: StreamWatcher | undefined,
): UpstreamAttempt | undefined {
  if (failure.about === 'translation') return byOtherProtocol(open.engine, attempt)
  return isSealRefused(open, attempt, failure)
    ? beginUnsealed(open, attempt, failure, watcher)
    : undefined
}

const watcherOf = (reply: TextReply): StreamWatcher | undefined =>
  'watcher' in reply ? reply.watcher : undefined

/** A call that names objects kept upstream has no choice. */
function findPlacement({ engine, ctx, call, admission, record }: OpenCall): void {
  if (admission.tried !== undefined) return
  const { conversations } = engine.routing
  const { routes, served } = admission
  const asked = served === undefined ? call : { ...call, model: served.name }
  const placement = conversations.placementOf(routes, ctx.token, asked)
  admission.placement = placement
  if (placement?.by !== undefined) record.detail.conversationBy = placement.by
}

const takeNext = (open: OpenCall) => {
  const { engine, ctx, admission, record } = open
  if (admission.others !== undefined) return takeAmongMembers(open)
  const { signal } = ctx
  const { accountId } = record
  const { routes, tried, placement } = admission
  return takePlace(engine, routes, { accountId, signal, tried, placement })
}

/** It has its slot at the channel already. */
export function beginAttempt(
  engine: CallDeps,
  record: RequestRecord,
  { route, key, channelState, probe = false, affinity, moved }: PickedRoute,
): UpstreamAttempt {
  const provider = engine.providers.get(route.protocol)?.text
  ensure(provider !== undefined, `provider ${route.protocol} speaks text`)
  recordRoute(record, route)
  const { accountId } = record
  engine.load.running++
  const stop = new Cancellation()
  const deadline = engine.deadlines.start(route.channel.timeouts, stop)
  const startedMs = engine.clock.nowMs()
  const picked = { route, key, channelState, probe, affinity, moved }
  return { ...picked, accountId, provider, stop, deadline, startedMs }
}

/** After a failure at the first. */
function beginNext({ engine, record }: OpenCall, first: Route, next: PickedRoute): UpstreamAttempt {
  const attempt = beginAttempt(engine, record, next)
  const areOwn = !first.translated && !next.route.translated
  const isOtherMaker = areOwn && realmOf(first) !== realmOf(next.route)
  return isOtherMaker ? { ...attempt, withoutSeals: true } : attempt
}

/** The same upstream may answer when it gets no seals. Once for each place. */
const isSealRefused = (
  open: OpenCall,
  attempt: UpstreamAttempt,
  { reason }: UpstreamError,
): boolean =>
  reason?.kind === 'invalid_seal' &&
  attempt.withoutSeals === undefined &&
  !isStrict(attempt.route, open.ctx) &&
  !hasLeft(open, attempt) &&
  !open.engine.load.draining

/** At the same place, which the call keeps; the refusal says nothing about the channel. */
function beginUnsealed(
  open: OpenCall,
  attempt: UpstreamAttempt,
  failure: UpstreamError,
  watcher: StreamWatcher | undefined,
): UpstreamAttempt {
  const { engine, call } = open
  const { route } = attempt
  addFailedLoss(open, attempt, failure, watcher)
  attempt.deadline.end()
  attempt.stop.cancel()
  recordFailed(open, attempt, cleaned(engine, failure, call, route))
  const stop = new Cancellation()
  const deadline = engine.deadlines.start(route.channel.timeouts, stop)
  return { ...attempt, stop, deadline, startedMs: engine.clock.nowMs(), withoutSeals: true }
}

/** From here on the row names the channel. */
function recordRoute(record: RequestRecord, { channel, upstreamModel }: Route): void {
  record.channel = channel.name
  if (upstreamModel !== record.model) record.detail.upstreamModel = upstreamModel
  else delete record.detail.upstreamModel
}

/** Whatever fails in a provider, the hold ends and the caller gets an answer. */
function bugAsReply(open: OpenCall, error: unknown): TextReply {
  reportBug(open, error)
  const message = 'something went wrong in the gateway'
  return { kind: 'failed', error: { code: 'internal_error', message } }
}

function failureOf(reply: TextReply, first: Uint8Array | undefined): UpstreamError | undefined {
  if (reply.kind === 'failed') return reply.error
  if (reply.kind === 'json' || first !== undefined) return undefined
  const { outcome } = reply.watcher
  return outcome === 'finished' ? undefined : outcome
}

/** A successful answer has begun. A whole one ends the attempt; a stream ends it when it is over. */
function answered(
  open: OpenCall,
  attempt: UpstreamAttempt,
  reply: GoodReply,
  first: Uint8Array | undefined,
): JsonReply | BegunStream {
  const { engine, ctx, call, record } = open
  const { served } = open.admission
  recordSuccess(engine, attempt, served?.name ?? call.model)
  if (served !== undefined) record.detail.servedModel = served.name
  record.firstByteMs = engine.clock.nowMs() - ctx.atMs
  if (reply.cacheMarks !== undefined) record.detail.cacheMarks = reply.cacheMarks
  if (reply.losses !== undefined || call.rewritten !== undefined) {
    recordTranslation(record, call, attempt.route.protocol, reply.losses)
  }
  if (reply.kind === 'stream') return { kind: 'stream', reply, attempt, first }
  completeAttempt(open, attempt, reply.upstreamRequestId)
  if (reply.finishReason !== undefined) record.detail.finishReason = reply.finishReason
  return reply
}

/** The attempt is over and its answer complete enough to be charged. */
export function completeAttempt(
  open: OpenCall,
  attempt: UpstreamAttempt,
  upstreamRequestId: string | undefined,
): void {
  recordAttempt(open, attempt, { status: 200, upstreamRequestId })
  endAttempt(open.engine, attempt)
}

/** Its upstream work is over, whatever the outcome; money is settled separately. */
export function endAttempt(engine: CallDeps, attempt: UpstreamAttempt): void {
  const { deadline, channelState, route, accountId } = attempt
  deadline.end()
  engine.load.running--
  leavePlace(engine, route.channel, channelState, accountId)
}

/** The attempt has failed. Returns the failure as the caller may read it. */
export function failAttempt(
  open: OpenCall,
  attempt: UpstreamAttempt,
  raw: UpstreamError,
  watcher: StreamWatcher | undefined,
): UpstreamError {
  const { engine, call } = open
  addFailedLoss(open, attempt, raw, watcher)
  endAttempt(engine, attempt)
  // An upstream that keeps sending after its own error must not hold an unread connection open.
  attempt.stop.cancel()
  const left = hasLeft(open, attempt)
  const { expired, stopped } = attempt.deadline
  const cause = left ? callerLeft : stopped ? shuttingDown : expired ? timedOut : raw
  const kind = left ? 'caller_left' : stopped ? 'shutting_down' : kindIn(attempt, cause)
  recordFailure(engine, attempt, open.admission.served?.name ?? call.model, cause, kind)
  const error = cleaned(engine, cause, call, attempt.route)
  recordFailed(open, attempt, error, left ? 'caller_left' : error.code)
  if (!left && error.about !== 'translation') logFailure(open, error, raw.cause)
  return error
}

/** What an upstream says is its own; what breaks or is late may be so because the gateway stood still. */
function kindIn({ deadline }: UpstreamAttempt, error: UpstreamError): FailureKind {
  const isSilent = error.httpStatus === undefined && error.about === undefined
  return isSilent && deadline.hasStoodStill ? 'stood_still' : failureKind(error)
}

/** A caller that does not read has left, too. */
export const hasLeft = ({ ctx }: OpenCall, attempt: UpstreamAttempt): boolean =>
  (ctx.signal.aborted || attempt.isAbandoned === true) && !attempt.deadline.expired

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

/**
 * Another channel or key after a failed attempt; undefined when the call should end. A refusal: there is
 * another channel, which may be able to carry the call but cannot be called now.
 */
async function takeAnother(
  open: OpenCall,
  attempt: UpstreamAttempt,
  error: UpstreamError,
): Promise<PickedRoute | Refusal | undefined> {
  const { engine, ctx, admission, record } = open
  const { id, timeouts } = attempt.route.channel
  const wasSent = error.about !== 'translation'
  if (wasSent && isAboutRequest(error)) return undefined
  if (hasLeft(open, attempt) || engine.load.draining) return undefined
  if (engine.clock.nowMs() - ctx.atMs > timeouts.totalMs) return undefined
  admission.tried ??= new Tried()
  if (error.about === 'key') admission.tried.addKey(id, attempt.key)
  else if (!wasSent) admission.tried.addUnable(id)
  else if (error.about !== 'path' || attempt.route.fallback === undefined) {
    admission.tried.addChannel(id)
  }
  const mayTry =
    admission.others === undefined
      ? sentAttempts(record.detail).length < maxAttempts
      : mayTryMore(open)
  if (!mayTry) return undefined
  if (wasSent && !engine.routing.retries.take()) return undefined
  const next = await takeNext(open)
  if (!(next instanceof Refusal)) return next
  if (wasSent) engine.routing.retries.giveBack()
  const { routes, tried } = admission
  return routes.every(({ channel }) => tried?.hasChannel(channel.id)) ? undefined : next
}
