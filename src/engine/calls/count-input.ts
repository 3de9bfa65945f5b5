// Counts the input tokens of a call: asks a channel that can count, in the caller's style or
// translated, else estimates. Free of charge, but counts against the token's request limit.
import type { Route } from '../../catalog/snapshot.ts'
import type { CallContext, Counted } from '../../contract/caller-api.ts'
import { modelDefaults } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import type { CountReply } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { enter } from '../admission/reserve.ts'
import type { TextBounds } from '../admission/text-bounds.ts'
import { type ChannelState, channelStateOf } from '../routing/channel-state.ts'
import { failureKind, faultOf } from '../routing/faults.ts'
import { dropProbes } from '../routing/learn.ts'
import type { PickedRoute } from '../routing/pick-route.ts'
import { takeFreePlace } from '../routing/take-place.ts'
import { findFunds, findReferred, findServed } from './admit.ts'
import { beginAttempt, endAttempt } from './attempt.ts'
import { endRecord, recordTranslation, recordUnbilled, writeRecord } from './call-record.ts'
import { planMembers } from './members.ts'
import { type CallDeps, OpenCall } from './open-call.ts'
import { upstreamOf } from './upstream-of.ts'

/** An upstream without this endpoint is not asked again for a while. */
const askAgainMs = 10 * 60_000
const untilByChannel = new WeakMap<ChannelState, number>()

export async function countInput(
  engine: CallDeps,
  ctx: CallContext,
  call: TextCall,
): Promise<Counted | Refusal> {
  const open = new OpenCall(engine, ctx, call)
  const { record } = open
  record.detail.stream = false
  record.detail.operation = 'count_tokens'
  const refused = await findCountable(open)
  const pass = refused ?? (await enter(engine, ctx, call.inputTokens))
  if (pass instanceof Refusal) return recordUnbilled(engine, record, 'refused', pass)
  const reply = await askAny(open)
  pass.leave(undefined)
  endRecord(engine, record, 'complete', 200)
  const { view: rate } = pass
  if (reply?.kind === 'counted') {
    writeRecord(engine, record)
    const { translation: path, translationLosses: losses = [] } = record.detail
    const note = path === undefined ? undefined : { translation: { path, losses } }
    return { inputTokens: reply.inputTokens, estimated: false, rate, ...note }
  }
  record.detail.estimated = true
  writeRecord(engine, record)
  return { inputTokens: call.inputTokens, estimated: true, rate }
}

/** A virtual model is asked about at the member that such a call would go to first. */
async function findCountable(open: OpenCall): Promise<undefined | Refusal> {
  const model = findServed(open)
  if (model instanceof Refusal) return model
  const { backing } = model
  const planned = backing === undefined ? findReferred(open) : planMembers(open, model)
  if (planned instanceof Refusal) return planned
  delete open.record.priceId
  open.bounds = anyBounds
  return findFunds(open, backing?.pricedAs === undefined ? (open.served ?? model) : model)
}

/** Nothing is charged for a count. */
const { contextWindow: windowTokens, maxOutputTokens } = modelDefaults
const anyBounds: TextBounds = {
  inputTokens: windowTokens,
  windowTokens,
  outputTokens: maxOutputTokens,
  modelOutputTokens: maxOutputTokens,
}

/** Undefined when no channel can be asked now. */
async function askAny(open: OpenCall): Promise<CountReply | undefined> {
  const { engine, record, call } = open
  open.routes = open.routes.filter((route) => mayAsk(engine, route))
  const picked = open.routes.length === 0 ? 'full' : takeFreePlace(engine, open)
  if (picked === 'full' || picked instanceof Refusal) return undefined
  const reply = await ask(open, picked)
  if (reply?.kind === 'counted' && reply.losses !== undefined) {
    recordTranslation(record, call, picked.route.protocol, reply.losses)
  }
  return reply
}

const mayAsk = (engine: CallDeps, { channel, protocol, provider }: Route): boolean =>
  engine.providers.get(provider ?? protocol)?.text?.countTokens !== undefined &&
  (untilByChannel.get(channelStateOf(engine.routing.states, channel.id)) ?? 0) <=
    engine.clock.nowMs()

async function ask(open: OpenCall, picked: PickedRoute): Promise<CountReply | undefined> {
  const { engine, ctx, call } = open
  const attempt = beginAttempt(open, picked)
  ctx.signal.addEventListener('abort', attempt)
  const reply = await attempt.provider.countTokens?.(call, upstreamOf(open, attempt), attempt)
  ctx.signal.removeEventListener('abort', attempt)
  endAttempt(open, attempt)
  dropProbes(attempt)
  // The reply to a count says little about the channel's health.
  if (reply?.kind === 'failed' && faultOf(failureKind(reply.error)) === 'channel') {
    untilByChannel.set(attempt.channelState, engine.clock.nowMs() + askAgainMs)
  }
  return reply
}
