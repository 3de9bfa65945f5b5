// Sends a call upstream: takes a slot at a channel, sends, and waits until the answer has begun. A
// channel that fails before the caller has received anything is followed by another, within the
// retry budget.
import type { Route } from '../../catalog/snapshot.ts'
import { Refusal } from '../../contract/errors.ts'
import type { StreamWatcher, TextReply, UpstreamError } from '../../contract/provider.ts'
import { sentAttempts } from '../../contract/requests.ts'
import { isAboutRequest, recordSuccess } from '../routing/learn.ts'
import { type PickedRoute, Tried } from '../routing/pick-route.ts'
import { allFull, takePlace } from '../routing/take-place.ts'
import {
  beginAgain,
  beginAttempt,
  beginNext,
  completeAttempt,
  failAttempt,
  firstBytes,
  hasLeft,
  type StreamReply,
  type UpstreamAttempt,
} from './attempt.ts'
import { recordTranslation } from './call-record.ts'
import { mayTryMore, placedCall, takeAmongMembers } from './members.ts'
import type { OpenCall } from './open-call.ts'
import { leaveUnwanted } from './own-call.ts'
import { forget, giveUp, refusalOf, refuseUnsent } from './settle-call.ts'
import { upstreamOf } from './upstream-of.ts'

/** Maximum attempts of a call, however many keys are left. */
const maxAttempts = 5

type GoodReply = Exclude<TextReply, { kind: 'failed' }>
export type JsonReply = Extract<TextReply, { kind: 'json' }>

/** A stream from its first bytes on; these may be the whole of it. */
export interface BegunStream {
  readonly kind: 'stream'
  readonly reply: StreamReply
  readonly attempt: UpstreamAttempt
  /** Until the caller gets them: they would keep a network buffer as long as the stream. */
  first: Uint8Array | undefined
}

/** Why a call was not answered, as far as it is known. */
interface Causes {
  readonly firstRoute: Route
  /** Of the last channel that it was sent to. */
  failed?: UpstreamError
  /** The first reason why it could not be translated; another channel may carry it. */
  untranslated?: UpstreamError
}

/** Tries channels in sequence until one answers or none is left. */
export async function sendCall(open: OpenCall): Promise<JsonReply | BegunStream | Refusal> {
  const { engine, ctx } = open
  findPlacement(open)
  const taken = takeNext(open)
  const picked = taken instanceof Promise ? await taken : taken
  if (picked instanceof Refusal) return refusePlace(open, picked)
  const task = ctx.own?.task
  if (task !== undefined && !(await task.begin(picked.route.channel))) {
    return refuseUnsent(open, leaveUnwanted(open, picked))
  }
  engine.routing.retries.recordCall()
  let attempt = beginAttempt(open, picked)
  let causes: Causes | undefined
  for (;;) {
    open.underWay = attempt
    if (ctx.signal.aborted) attempt.cancel()
    const sentMs = performance.now()
    let reply: TextReply
    try {
      reply = await attempt.provider.send(open.call, upstreamOf(open, attempt), attempt)
    } catch (error) {
      reply = bugAsReply(open, error)
    }
    // Until something is sent, a failure is still a plain error, or leads to another channel.
    const first = reply.kind === 'stream' ? await firstBytes(open, attempt, reply) : undefined
    open.upstreamMs += performance.now() - sentMs
    open.underWay = undefined
    const failure = failureOf(reply, first)
    if (failure === undefined) return answered(open, attempt, reply as GoodReply, first)
    causes ??= { firstRoute: picked.route }
    const watcher = reply.kind === 'stream' ? reply.watcher : undefined
    const next = await nextAttempt(open, attempt, failure, watcher, causes)
    if (next instanceof Refusal) return next
    attempt = next
  }
}

function refusePlace(open: OpenCall, refusal: Refusal): Refusal {
  const { own } = open.ctx
  if (own?.full === undefined || refusal !== allFull) return refuseUnsent(open, refusal)
  own.full()
  return forget(open, refusal)
}

/** After a failure: at the same place in another way, else at another one. */
async function nextAttempt(
  open: OpenCall,
  attempt: UpstreamAttempt,
  failure: UpstreamError,
  watcher: StreamWatcher | undefined,
  causes: Causes,
): Promise<UpstreamAttempt | Refusal> {
  const again = beginAgain(open, attempt, failure, watcher)
  if (again !== undefined) return again
  const error = failAttempt(open, attempt, failure, watcher)
  if (error.about === 'translation') causes.untranslated ??= error
  else causes.failed = error
  const next = await takeAnother(open, attempt, error)
  if (next !== undefined && !(next instanceof Refusal)) {
    return beginNext(open, causes.firstRoute, next)
  }
  const { failed, untranslated } = causes
  if (failed !== undefined) return giveUp(open, failed, hasLeft(open, attempt))
  return refuseUnsent(open, next ?? refusalOf(untranslated!))
}

/** A call that names objects kept upstream has no choice. */
function findPlacement(open: OpenCall): void {
  if (open.tried !== undefined || open.call.conversation === undefined) return
  const { conversations } = open.engine.routing
  const placement = conversations.placementOf(open.routes, open.ctx.token, placedCall(open))
  open.placement = placement
  if (placement?.by !== undefined) open.record.detail.conversationBy = placement.by
}

const takeNext = (open: OpenCall) =>
  open.others === undefined ? takePlace(open.engine, open, open.ctx.signal) : takeAmongMembers(open)

/** Whatever fails in a provider, the hold ends and the caller gets an answer. */
function bugAsReply(open: OpenCall, error: unknown): TextReply {
  open.reportBug(error)
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
  const { engine, ctx, call, record, served } = open
  const { detail } = record
  recordSuccess(engine, attempt, served?.name ?? call.model)
  if (attempt.route.byLatency) {
    const ms = engine.clock.nowMs() - attempt.startedMs
    attempt.channelState.noteFirstByte(attempt.route.upstreamModel, ms)
  }
  if (served !== undefined) detail.servedModel = served.name
  record.firstByteMs = engine.clock.nowMs() - ctx.atMs
  if (reply.cacheMarks !== undefined) detail.cacheMarks = reply.cacheMarks
  if (reply.losses !== undefined || call.rewritten !== undefined) {
    recordTranslation(record, call, attempt.route.protocol, reply.losses)
  }
  if (reply.kind === 'stream') return { kind: 'stream', reply, attempt, first }
  completeAttempt(open, attempt, reply.upstreamRequestId)
  if (reply.finishReason !== undefined) detail.finishReason = reply.finishReason
  return reply
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
  const { engine, ctx, record } = open
  const { id, timeouts } = attempt.route.channel
  const wasSent = error.about !== 'translation'
  if (wasSent && isAboutRequest(error)) return undefined
  if (hasLeft(open, attempt) || engine.load.draining) return undefined
  if (engine.clock.nowMs() - ctx.atMs > timeouts.totalMs) return undefined
  open.tried ??= new Tried()
  if (error.about === 'key') open.tried.addKey(id, attempt.key)
  else if (!wasSent) open.tried.addUnable(id)
  else if (error.about !== 'path' || attempt.route.fallback === undefined) open.tried.addChannel(id)
  const mayTry =
    open.others === undefined ? sentAttempts(record.detail).length < maxAttempts : mayTryMore(open)
  if (!mayTry) return undefined
  if (wasSent && !engine.routing.retries.take()) return undefined
  const next = await takeNext(open)
  if (!(next instanceof Refusal)) return next
  if (wasSent) engine.routing.retries.giveBack()
  return open.routes.every(({ channel }) => open.tried?.hasChannel(channel.id)) ? undefined : next
}
