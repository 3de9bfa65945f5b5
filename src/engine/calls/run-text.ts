// One text call from admission to answer: permission, hold, upstream, charge. A channel that fails
// before the caller has received anything is followed by another, within the retry budget. A JSON
// answer is sent when its charge is durable; stream-text.ts continues a stream.

import type { Route } from '../../catalog/snapshot.ts'
import type { CallContext, TextAnswer } from '../../contract/caller-api.ts'
import { Refusal } from '../../contract/errors.ts'
import type { TextReply, UpstreamError } from '../../contract/provider.ts'
import type { RequestRecord, TextCall } from '../../contract/requests.ts'
import { admitText } from '../admission/admit.ts'
import { addFailedLoss } from '../books/losses.ts'
import type { Engine } from '../engine.ts'
import { isAboutRequest } from '../routing/learn.ts'
import { Tried } from '../routing/pick-route.ts'
import { takePlace } from '../routing/take-place.ts'
import { newRecord, recordHangUp, recordUnbilled } from './call-record.ts'
import {
  beginTry,
  endAnswered,
  endFailed,
  giveUp,
  hasLeft,
  type OpenCall,
  recordAnswer,
  release,
  reportBug,
  type TryingCall,
  upstreamOf,
} from './open-call.ts'
import { settleCall } from './settle-call.ts'
import { firstBytes, streamOf } from './stream-text.ts'

/** Maximum tries of a call, however many keys are left. */
const maxTries = 5

export async function runText(
  engine: Engine,
  ctx: CallContext,
  call: TextCall,
): Promise<TextAnswer | Refusal> {
  const record = newRecord(ctx, call.interface, call.model)
  const beganMs = performance.now()
  record.detail.stream = call.stream
  const admitted = admitText(engine, ctx, call)
  const admission = admitted instanceof Promise ? await admitted : admitted
  if (admission instanceof Refusal) return recordUnbilled(engine, record, 'refused', admission)
  record.priceId = admission.price.id
  const { routes, tried, sent } = admission
  const begun = begin(engine, ctx, record, routes, tried)
  const trying = begun instanceof Promise ? await begun : begun
  if (trying instanceof Refusal) {
    release({ engine, admission })
    if (!ctx.signal.aborted) return recordUnbilled(engine, record, 'refused', trying)
    recordHangUp(engine, record)
    return trying
  }
  engine.routing.retries.recordCall()
  const open = { engine, ctx, call: sent, admission, record, trying, beganMs, upstreamMs: 0 }
  return await follow(open)
}

const begin = (
  engine: Engine,
  { signal }: CallContext,
  record: RequestRecord,
  routes: readonly Route[],
  tried?: Tried,
): TryingCall | Refusal | Promise<TryingCall | Refusal> =>
  takePlace(engine, routes, {
    accountId: record.accountId,
    signal,
    tried,
    take: (picked) => beginTry(engine, record, picked),
  })

/** Tries channels in sequence until one answers or none is left. */
async function follow(open: OpenCall): Promise<TextAnswer | Refusal> {
  const { engine, ctx, call } = open
  let { tried } = open.admission
  for (;;) {
    const { trying } = open
    const { provider, stop } = trying
    ctx.signal.addEventListener('abort', stop)
    if (ctx.signal.aborted) stop.cancel()
    let reply: TextReply
    const sentMs = performance.now()
    try {
      reply = await provider.send(call, upstreamOf(engine, trying, ctx), stop)
    } catch (error) {
      reply = bugAsReply(open, error)
    }
    // Until something is sent, a failure is still a plain error, or leads to another channel.
    const first = reply.kind === 'stream' ? await firstBytes(open, reply) : undefined
    open.upstreamMs += performance.now() - sentMs
    ctx.signal.removeEventListener('abort', stop)
    const failure = failureOf(reply, first)
    if (failure === undefined) return await answer(open, reply as GoodReply, first)
    addFailedLoss(open, failure, reply.kind === 'stream' ? reply.watcher : undefined)
    const error = endFailed(open, failure)
    tried ??= new Tried()
    const next = await another(open, error, tried)
    if (next === undefined) return giveUp(open, error)
    open.trying = next
  }
}

/** Whatever fails in a provider, the hold ends and the caller gets an answer. */
function bugAsReply(open: OpenCall, error: unknown): TextReply {
  reportBug(open, error)
  const message = 'something went wrong in the gateway'
  return { kind: 'failed', error: { code: 'internal_error', message } }
}

type GoodReply = Exclude<TextReply, { kind: 'failed' }>

function failureOf(reply: TextReply, first: Uint8Array | undefined): UpstreamError | undefined {
  if (reply.kind === 'failed') return reply.error
  if (reply.kind === 'json' || first !== undefined) return undefined
  const { outcome } = reply.watcher
  return outcome === 'finished' ? undefined : outcome
}

async function answer(
  open: OpenCall,
  reply: GoodReply,
  first: Uint8Array | undefined,
): Promise<TextAnswer | Refusal> {
  const { engine, ctx, record, admission } = open
  const rate = admission.pass.view
  recordAnswer(open)
  record.firstByteMs = engine.clock.nowMs() - ctx.atMs
  if (reply.kind === 'stream') {
    recordOverhead(open)
    return { stream: streamOf(open, reply, first), rate }
  }
  endAnswered(open, reply.upstreamRequestId)
  const settled = await settleCall(open, reply.reported, reply.countOutputTokens, 'complete')
  recordOverhead(open)
  return settled ?? { body: reply.body, rate }
}

/** All time before the answer began, except for upstream time. */
const recordOverhead = ({ engine, record, beganMs, upstreamMs }: OpenCall): void =>
  engine.meters?.overhead(record, performance.now() - beganMs - upstreamMs)

/** Another channel or key for a call after a failed try; undefined when the call should end. */
async function another(
  open: OpenCall,
  error: UpstreamError,
  tried: Tried,
): Promise<TryingCall | undefined> {
  const { engine, ctx, trying, admission, record } = open
  const { id, timeouts } = trying.route.channel
  if (isAboutRequest(error) || hasLeft(open) || engine.load.draining) return undefined
  if (engine.clock.nowMs() - ctx.atMs > timeouts.totalMs) return undefined
  if (error.about === 'key') tried.addKey(id, trying.key)
  else tried.addChannel(id)
  if (record.detail.attempts.length >= maxTries || !engine.routing.retries.take()) return undefined
  const next = await begin(engine, ctx, record, admission.routes, tried)
  if (!(next instanceof Refusal)) return next
  engine.routing.retries.giveBack()
  return undefined
}
