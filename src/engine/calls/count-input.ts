// Counts the input tokens of a call: asks a channel that can count, in the caller's style or
// translated, else estimates. Free of charge, but counts against the token's request limit.
import type { Route } from '../../catalog/snapshot.ts'
import type { CallContext, Counted } from '../../contract/caller-api.ts'
import { type Model, modelDefaults } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import type { CountReply } from '../../contract/provider.ts'
import type { RequestRecord, TextCall } from '../../contract/requests.ts'
import { enter, findFunds, findServed } from '../admission/admit.ts'
import { planVirtual } from '../admission/members.ts'
import { resolveReferences } from '../admission/references.ts'
import { type ChannelState, channelStateOf } from '../routing/channel-state.ts'
import { failureKind, faultOf } from '../routing/faults.ts'
import { dropProbes } from '../routing/learn.ts'
import type { PickedRoute, Tried } from '../routing/pick-route.ts'
import { takeFreePlace } from '../routing/take-place.ts'
import {
  endRecord,
  newRecord,
  recordTranslation,
  recordUnbilled,
  writeRecord,
} from './call-record.ts'
import type { CallDeps } from './open-call.ts'
import { beginAttempt, endAttempt } from './send-call.ts'
import { upstreamOf } from './upstream-of.ts'

/** An upstream without this endpoint is not asked again for a while. */
const askAgainMs = 10 * 60_000
const untilByChannel = new WeakMap<ChannelState, number>()

/** The call as it goes upstream, and where it may go. */
interface Countable {
  call: TextCall
  routes: readonly Route[]
  tried: Tried | undefined
}

export async function countInput(
  engine: CallDeps,
  ctx: CallContext,
  call: TextCall,
): Promise<Counted | Refusal> {
  const record = newRecord(ctx, call.interface, call.model)
  record.detail.operation = 'count_tokens'
  const countable = await findCountable(engine, ctx, call)
  const pass = countable instanceof Refusal ? countable : await enter(engine, ctx, call.inputTokens)
  if (countable instanceof Refusal || pass instanceof Refusal) {
    return recordUnbilled(engine, record, 'refused', pass as Refusal)
  }
  const reply = await askAny(engine, ctx, record, countable)
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

async function findCountable(
  engine: CallDeps,
  ctx: CallContext,
  call: TextCall,
): Promise<Countable | Refusal> {
  const served = findServed(engine, ctx, call)
  if (served instanceof Refusal) return served
  const { model, routes } = served
  if (model.backing !== undefined) return findMember(engine, ctx, call, model)
  const referred =
    call.references === undefined
      ? { call, routes, tried: undefined }
      : resolveReferences(engine.seal, ctx, call, routes)
  if (referred instanceof Refusal) return referred
  return (await findFunds(engine, ctx, call, model)) ?? referred
}

/** The member of a virtual model that such a call would go to first. */
async function findMember(
  engine: CallDeps,
  ctx: CallContext,
  call: TextCall,
  model: Model,
): Promise<Countable | Refusal> {
  const plan = planVirtual(engine, ctx, call, model)
  if (plan instanceof Refusal) return plan
  const priced = model.backing?.pricedAs === undefined ? plan.served : model
  const { sent, routes, tried } = plan
  return (await findFunds(engine, ctx, call, priced)) ?? { call: sent, routes, tried }
}

/** Undefined when no channel can be asked now. */
async function askAny(
  engine: CallDeps,
  ctx: CallContext,
  record: RequestRecord,
  { call, routes, tried }: Countable,
): Promise<CountReply | undefined> {
  const able = routes.filter((route) => mayAsk(engine, route))
  const { accountId } = record
  const picked = able.length === 0 ? 'full' : takeFreePlace(engine, able, { accountId, tried })
  if (picked === 'full' || picked instanceof Refusal) return undefined
  const reply = await ask(engine, ctx, call, record, picked)
  if (reply?.kind === 'counted' && reply.losses !== undefined) {
    recordTranslation(record, call, picked.route.protocol, reply.losses)
  }
  return reply
}

const mayAsk = (engine: CallDeps, { channel, protocol }: Route): boolean =>
  engine.providers.get(protocol)?.text?.countTokens !== undefined &&
  (untilByChannel.get(channelStateOf(engine.routing.states, channel.id)) ?? 0) <=
    engine.clock.nowMs()

/** Nothing is charged for a count. */
const { contextWindow: windowTokens, maxOutputTokens } = modelDefaults
const bounds = { windowTokens, outputTokens: maxOutputTokens }
const anySize = { maxOutputTokens, inputTokens: 0, bounds }

async function ask(
  engine: CallDeps,
  ctx: CallContext,
  call: TextCall,
  record: RequestRecord,
  picked: PickedRoute,
): Promise<CountReply | undefined> {
  const attempt = beginAttempt(engine, record, picked)
  ctx.signal.addEventListener('abort', attempt.stop)
  const reply = await attempt.provider.countTokens?.(
    call,
    upstreamOf(engine, attempt, ctx, anySize),
    attempt.stop,
  )
  ctx.signal.removeEventListener('abort', attempt.stop)
  endAttempt(engine, attempt)
  dropProbes(attempt)
  // The reply to a count says little about the channel's health.
  if (reply?.kind === 'failed' && faultOf(failureKind(reply.error)) === 'channel') {
    untilByChannel.set(attempt.channelState, engine.clock.nowMs() + askAgainMs)
  }
  return reply
}
