// Counts the input tokens of a call: asks a channel that can count, else estimates. Free of charge,
// but counts against the token's request limit.
import type { CallContext, Counted } from '../../contract/caller-api.ts'
import { Refusal } from '../../contract/errors.ts'
import type { CountReply } from '../../contract/provider.ts'
import type { RequestRecord, TextCall } from '../../contract/requests.ts'
import { enter, findFunds, findServed } from '../admission/admit.ts'
import { type ChannelState, channelStateOf } from '../routing/channel-state.ts'
import { dropProbes } from '../routing/learn.ts'
import type { PickedRoute } from '../routing/pick-route.ts'
import { takeFreePlace } from '../routing/take-place.ts'
import { endRecord, newRecord, recordUnbilled, writeRecord } from './call-record.ts'
import type { CallDeps } from './open-call.ts'
import { beginAttempt, endAttempt } from './send-call.ts'
import { upstreamOf } from './upstream-of.ts'

/** An upstream without this endpoint is not asked again for a while. */
const askAgainMs = 10 * 60_000
const untilByChannel = new WeakMap<ChannelState, number>()

export async function countInput(
  engine: CallDeps,
  ctx: CallContext,
  call: TextCall,
): Promise<Counted | Refusal> {
  const record = newRecord(ctx, call.interface, call.model)
  record.detail.operation = 'count_tokens'
  const served = findServed(engine, ctx, call)
  const refused =
    served instanceof Refusal ? served : await findFunds(engine, ctx, call, served.model)
  const pass = refused ?? (await enter(engine, ctx, call.inputTokens))
  if (served instanceof Refusal || pass instanceof Refusal) {
    return recordUnbilled(engine, record, 'refused', pass as Refusal)
  }
  const routes = served.routes.filter(
    ({ channel, translated }) => !translated && mayAsk(engine, channel.id),
  )
  const picked = routes.length === 0 ? undefined : takeFreePlace(engine, routes, record)
  const reply =
    picked === undefined || picked === 'full' || picked instanceof Refusal
      ? undefined
      : await ask(engine, ctx, call, record, picked)
  pass.leave(undefined)
  endRecord(engine, record, 'complete', 200)
  const estimated = reply?.kind !== 'counted'
  if (estimated) record.detail.estimated = true
  writeRecord(engine, record)
  const inputTokens = estimated ? call.inputTokens : reply.inputTokens
  return { inputTokens, estimated, rate: pass.view }
}

const mayAsk = (engine: CallDeps, id: string): boolean =>
  (untilByChannel.get(channelStateOf(engine.routing.states, id)) ?? 0) <= engine.clock.nowMs()

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
    upstreamOf(engine, attempt, ctx),
    attempt.stop,
  )
  ctx.signal.removeEventListener('abort', attempt.stop)
  endAttempt(engine, attempt)
  dropProbes(attempt)
  // The reply to a count says little about the channel's health.
  if (reply?.kind === 'failed') {
    untilByChannel.set(attempt.channelState, engine.clock.nowMs() + askAgainMs)
  }
  return reply
}
