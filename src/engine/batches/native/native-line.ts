// A line that the batch API of an upstream runs: it is admitted and written as a call would be, but not sent; and
// its result is charged and answered as the reply to that call. Nothing of it counts for the channel's health.
import type { Route } from '../../../catalog/snapshot.ts'
import type { BatchResult } from '../../../contract/batches/upstream.ts'
import type { CallContext, OwnCall, TextAnswer } from '../../../contract/caller-api.ts'
import type { Channel, Protocol } from '../../../contract/catalog.ts'
import { Refusal, refuse } from '../../../contract/errors.ts'
import type { HttpAnswer, HttpPort } from '../../../contract/http.ts'
import type { TextReply } from '../../../contract/provider.ts'
import type { TextCall } from '../../../contract/requests.ts'
import { crashPoint } from '../../../lib/crash-point.ts'
import { hiddenModel } from '../../admission/hidden-model.ts'
import { freePass } from '../../admission/limits/rate-limits.ts'
import { insufficient, reserve } from '../../admission/reserve.ts'
import { findServed, plan } from '../../calls/admit.ts'
import { UpstreamAttempt } from '../../calls/attempt.ts'
import { recordTranslation, recordUnbilled } from '../../calls/call-record.ts'
import { cleaned } from '../../calls/clean-error.ts'
import { planMembers } from '../../calls/members.ts'
import { type CallDeps, OpenCall } from '../../calls/open-call.ts'
import { refusalOf, settleCall } from '../../calls/settle-call.ts'
import { upstreamOf } from '../../calls/upstream-of.ts'
import { channelStateOf } from '../../routing/channel-state.ts'

export interface PreparedLine {
  route: Route
  key: string
  /** As the upstream takes it. */
  body: string
  /** The most that it can cost. */
  holdNanos: bigint
  tags: string | undefined
}

/** Undefined: it has to be made as a call, which also finds out why. */
export async function prepareLine(
  deps: CallDeps,
  ctx: CallContext,
  call: TextCall,
): Promise<PreparedLine | undefined> {
  const open = new OpenCall(deps, ctx, call)
  const model = findServed(open)
  if (model instanceof Refusal || call.references !== undefined) return undefined
  // Which of several members serves is known when it is sent.
  if (model.backing !== undefined && model.backing.members.length > 1) return undefined
  const wanted = model.backing === undefined ? plan(open, model) : planMembers(open, model)
  const route = open.routes.find((each) => takesBatches(deps, each))
  const key = route?.channel.keys[0]
  if (wanted instanceof Refusal || route === undefined || key === undefined) return undefined
  let body: string | undefined
  const http = portOf((sent) => {
    body = typeof sent === 'string' ? sent : new TextDecoder().decode(sent)
    return undefined
  })
  await ask(open, route, key, http)
  return body === undefined ? undefined : { route, key, body, holdNanos: wanted, tags: ctx.tags }
}

const takesBatches = ({ providers }: Pick<CallDeps, 'providers'>, route: Route): boolean =>
  route.channel.batches === 'native' &&
  route.channel.cloud === undefined &&
  providers.get(route.provider ?? route.protocol)?.batches !== undefined

/** Where its upstream has run it. */
export interface RanAt {
  channel: Channel
  protocol: Protocol
  upstreamModel: string
  key: string
  result: Extract<BatchResult, { status: number }>
  keep: NonNullable<OwnCall['keep']>
}

/** Charges the result, once its answer is kept. */
export async function adoptResult(
  deps: CallDeps,
  ctx: CallContext,
  call: TextCall,
  at: RanAt,
): Promise<TextAnswer | Refusal> {
  const open = new OpenCall(deps, ctx, call)
  const { record } = open
  const route = routeOf(at, call)
  const wanted = planAt(open, route)
  if (wanted instanceof Refusal) return recordUnbilled(deps, record, 'refused', wanted)
  record.priceId = open.price.id
  // Its part was held for; what is left of that pays it.
  const hold = await reserve(deps, ctx, 0n, open)
  if (hold instanceof Refusal) return hold
  if (hold === undefined) {
    return recordUnbilled(deps, record, 'failed', insufficient(open, wanted))
  }
  open.hold = hold
  open.pass = freePass
  return settleResult(open, route, at)
}

async function settleResult(
  open: OpenCall,
  route: Route,
  at: RanAt,
): Promise<TextAnswer | Refusal> {
  const { engine, ctx, call, record, hold } = open
  const { channel, upstreamModel } = route
  record.channel = channel.name
  if (upstreamModel !== record.model) record.detail.upstreamModel = upstreamModel
  const { status } = at.result
  record.detail.attempts.push({ channel: channel.name, afterMs: 0, ms: 0, status })
  const reply = await ask(
    open,
    route,
    at.key,
    portOf(() => playedAnswer(at.result)),
  )
  if (reply.kind !== 'json') {
    engine.ledger.release(hold)
    const error = reply.kind === 'failed' ? reply.error : noStream
    return recordUnbilled(engine, record, 'failed', refusalOf(cleaned(engine, error, call, route)))
  }
  if (reply.upstreamRequestId !== undefined) record.upstreamRequestId = reply.upstreamRequestId
  if (reply.losses !== undefined) recordTranslation(record, call, route.protocol, reply.losses)
  if (open.served !== undefined) record.detail.servedModel = open.served.name
  if (!(await at.keep(ctx.requestId, reply.body))) {
    engine.ledger.release(hold)
    return notKept
  }
  crashPoint('native-kept')
  const refused = await settleCall(open, reply.reported, reply.countOutputTokens, 'complete')
  return refused ?? answerOf(open, reply)
}

/** Also when its channel or its model is no longer offered: the upstream has run it. */
const routeOf = ({ channel, protocol, upstreamModel }: RanAt, call: TextCall): Route => ({
  ...{ channel, protocol, upstreamModel, baseUrl: channel.protocols[protocol] ?? '' },
  ...(protocol !== call.interface && { translated: true as const }),
})

function planAt(open: OpenCall, route: Route): bigint | Refusal {
  const { engine, ctx, call } = open
  const model =
    engine.catalog.visible(ctx.token, call.model) ?? engine.catalog.models.get(call.model)
  if (model === undefined) return hiddenModel(engine, ctx.token, call.model)
  open.routes = [route]
  const wanted = model.backing === undefined ? plan(open, model) : planMembers(open, model)
  open.routes = [route]
  return wanted
}

/** The provider's part of a call, over this client. */
async function ask(open: OpenCall, route: Route, key: string, http: HttpPort): Promise<TextReply> {
  const { engine } = open
  const channelState = channelStateOf(engine.routing.states, route.channel.id)
  const attempt = new UpstreamAttempt(engine, { route, key, channelState })
  try {
    return await attempt.provider.send(open.call, { ...upstreamOf(open, attempt), http }, attempt)
  } finally {
    attempt.deadline.end()
  }
}

/** Undefined: it cannot be reached. */
function portOf(answerTo: (body: string | Uint8Array) => HttpAnswer | undefined): HttpPort {
  const sent = (body: string | Uint8Array) => {
    const answer = answerTo(body)
    const reached = answer === undefined ? Promise.reject(new Error('not sent')) : answer
    return { answer: Promise.resolve(reached), cancel() {} }
  }
  return {
    post: (_url, _headers, body) => sent(body),
    get: () => sent(''),
    delete: () => sent(''),
  }
}

function playedAnswer({ status, body, upstreamRequestId }: RanAt['result']): HttpAnswer {
  const headers: Readonly<Record<string, string | undefined>> = {
    'content-type': 'application/json',
    'x-request-id': upstreamRequestId,
  }
  return {
    status,
    header: (name) => headers[name],
    text: (_maxBytes: number, _progress?: object, longBytes?: number) =>
      Promise.resolve(longBytes === undefined ? textOf(body) : body) as Promise<string>,
    read: () => Promise.resolve(undefined),
    pipe: (reader) => reader.end(),
    resume() {},
    cancel() {},
    release() {},
    expectTrickle() {},
  }
}

const textOf = (body: string | Uint8Array): string =>
  typeof body === 'string' ? body : Buffer.from(body).toString()

function answerOf(
  { engine, record }: OpenCall,
  { body, contentType }: Extract<TextReply, { kind: 'json' }>,
): TextAnswer {
  const { translation: path, translationLosses: losses = [], servedModel } = record.detail
  return {
    ...{ record, servedModel, contentType, body, stream: undefined, rate: undefined },
    currency: engine.declared.file.currency,
    translation: path === undefined ? undefined : { path, losses },
  }
}

const noStream = {
  code: 'upstream_invalid_response',
  message: 'the upstream answered a line with a stream',
} as const
const notKept = refuse('overloaded', 'the answer could not be kept')
