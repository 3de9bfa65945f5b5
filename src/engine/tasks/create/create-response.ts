// Creates a response that is made in the background: by an upstream that can, as any task, and else by a call
// that the gateway makes itself. The request of such a call is stored, sealed, until it is over.
//
//   transaction: row `queued` + hold + request ──> claimed by a gateway ──> `running`, then sent
import type {
  BackgroundOptions,
  CallContext,
  Created,
  ResponseCreate,
} from '../../../contract/caller-api.ts'
import { Refusal, refuse } from '../../../contract/errors.ts'
import type { RequestRecord, TextCall } from '../../../contract/requests.ts'
import { idPrefixes, type ResponseRequest, type ResponseTask } from '../../../contract/task.ts'
import { withStep } from '../../../contract/timeline.ts'
import { crashPoint } from '../../../lib/crash-point.ts'
import { newId } from '../../../lib/crypto/ids.ts'
import { withoutField } from '../../../lib/json/splice.ts'
import { trimmed } from '../../../lib/json/trim.ts'
import { qualifying } from '../../admission/data-policy.ts'
import { heldBounds } from '../../admission/min-output.ts'
import { resolveReferences } from '../../admission/references.ts'
import { findServed, plan } from '../../calls/admit.ts'
import { endRecord, newRecord, recordUnbilled, writeRecord } from '../../calls/call-record.ts'
import { planMembers } from '../../calls/members.ts'
import { OpenCall } from '../../calls/open-call.ts'
import type { Engine } from '../../engine.ts'
import { taskTrace } from '../../telemetry/traces/traced-client.ts'
import { sealedText } from '../task-texts.ts'
import { keyFingerprint } from '../task-upstream.ts'
import { acceptWith } from './accept-task.ts'
import { notNow } from './admit-task.ts'
import { createAdmitted } from './create-task.ts'
import { refusedWrite, writeTask } from './hold-task.ts'
import { asCreated, type KeyedCreate } from './idempotency.ts'
import { runAdmitted } from './run-admitted.ts'
import { routesFor } from './task-members.ts'

/** Characters of the input that its row shows. */
const maxPrompt = 2_000

export function createResponse(
  engine: Engine,
  ctx: CallContext,
  call: TextCall,
  { key, headers }: BackgroundOptions,
): Promise<Created | Refusal> {
  const record = newRecord(ctx, call.interface, call.model)
  const input: ResponseCreate = {
    kind: 'response',
    interface: call.interface,
    model: call.model,
    call,
    request: requestOf(call),
    ...(key !== undefined && { key }),
  }
  const tokens = call.inputTokens + (call.maxOutputTokens ?? 0)
  return runAdmitted(
    engine,
    ctx,
    record,
    () =>
      isMadeUpstream(engine, ctx, input)
        ? createUpstream(engine, ctx, input, record)
        : createOwn(engine, ctx, input, record, headers),
    tokens,
  )
}

/** Whether the model, or the first choice of a virtual one, has an upstream that can. */
function isMadeUpstream(engine: Engine, { token }: CallContext, input: ResponseCreate): boolean {
  const called = engine.catalog.visible(token, input.model)
  // The usual way refuses it.
  if (called === undefined) return true
  const models = called.backing?.members.map(({ model }) => model) ?? [called]
  const first = models.find((model) => engine.catalog.routes(model, input.interface).length > 0)
  if (first === undefined) return true
  return qualifying(token, routesFor(engine, first, input)).length > 0
}

/** With the upstream's own ids of what it goes on from, and to where that is. */
function createUpstream(
  engine: Engine,
  ctx: CallContext,
  input: ResponseCreate,
  record: RequestRecord,
): Promise<Created | Refusal> | Refusal {
  const model = engine.catalog.visible(ctx.token, input.model)
  if (input.call.references === undefined || model === undefined) {
    return createAdmitted(engine, ctx, input, record)
  }
  const routes = routesFor(engine, model, input)
  const referred = resolveReferences(engine.seal, ctx, input.call, routes)
  if (referred instanceof Refusal) return recordUnbilled(engine, record, 'refused', referred)
  const { call, routes: home, tried } = referred
  const [route] = home
  if (tried === undefined || route === undefined) {
    return createAdmitted(engine, ctx, { ...input, call }, record)
  }
  const { channel, protocol } = route
  const maker = channel.keys.find((each) => !tried.hasKey(channel.id, each)) ?? ''
  const pinnedTo = {
    channelId: channel.id,
    protocol,
    keyFingerprint: keyFingerprint(engine, maker),
  }
  return createAdmitted(engine, ctx, { ...input, call, pinnedTo }, record)
}

async function createOwn(
  engine: Engine,
  ctx: CallContext,
  input: ResponseCreate,
  record: RequestRecord,
  headers: BackgroundOptions['headers'],
): Promise<Created | Refusal> {
  const made = await acceptWith(engine, ctx, input, record, (keyed) =>
    holdOwn(engine, ctx, input, headers, keyed),
  )
  if (made instanceof Refusal) return made
  if (!('replayed' in made)) engine.jobs.poller.wake(engine.clock.nowMs())
  writeRecord(engine, endRecord(engine, record, 'complete', 200))
  return 'replayed' in made
    ? { ...made, task: asCreated(made.task) }
    : { task: made.task, replayed: false }
}

async function holdOwn(
  engine: Engine,
  ctx: CallContext,
  input: ResponseCreate,
  headers: BackgroundOptions['headers'],
  keyed: KeyedCreate | undefined,
): Promise<{ task: ResponseTask } | Refusal> {
  const busy = notNow(engine, ctx.token.accountId)
  if (busy !== undefined) return busy
  const open = new OpenCall(engine, ctx, atOnce(input.call))
  const model = findServed(open)
  if (model instanceof Refusal) return model
  const wanted = model.backing === undefined ? plan(open, model) : planMembers(open, model)
  if (wanted instanceof Refusal) return wanted
  const task = ownTask(engine, ctx, input, open, wanted)
  const text = JSON.stringify({ body: atOnce(input.call).body, headers })
  const kept = sealedText(engine, task, 'request', text)
  const written = await writeTask(engine, ctx, task, keyed, kept)
  if (written !== 'done') return refusedWrite(engine, written, task)
  crashPoint('response-kept')
  return { task }
}

function ownTask(
  engine: Engine,
  ctx: CallContext,
  { request, interface: use, model }: ResponseCreate,
  { bounds, routes, price, served }: OpenCall,
  holdNanos: bigint,
): ResponseTask {
  const nowMs = engine.clock.nowMs()
  const { inputTokens, windowTokens, outputTokens, toolUses } = heldBounds(bounds, routes)
  const frozen = { inputTokens, windowTokens, outputTokens, ...(toolUses && { toolUses }) }
  const created = { kind: 'created', atMs: nowMs, state: 'queued', progress: 0 } as const
  return {
    kind: 'response',
    request: { ...request, bounds: frozen, isOwnCall: true },
    id: newId(idPrefixes.response, nowMs),
    accountId: ctx.token.accountId,
    tokenId: ctx.token.id,
    requestId: ctx.requestId,
    interface: use,
    model,
    ...(served !== undefined && served.name !== model && { servedModel: served.name }),
    // Known when it is sent.
    ...{ protocol: 'responses', channelId: '', channel: '', upstreamModel: '', keyFingerprint: '' },
    state: 'queued',
    progress: 0,
    priceId: price.id,
    holdNanos,
    chargeNanos: 0n,
    media: [],
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    nextCheckAtMs: nowMs,
    checks: 0,
    misses: 0,
    hidden: false,
    timeline: withStep({ createdAtMs: nowMs }, created),
    ...(ctx.trace !== undefined && { trace: taskTrace(ctx.trace) }),
    ...(ctx.tags !== undefined && { tags: ctx.tags }),
  }
}

/** The same call for an upstream that answers at once. */
function atOnce(call: TextCall): TextCall {
  const { background: _, ...fields } = call.fields
  const { background: __, ...rest } = call
  return { ...rest, fields, body: withoutField(call.body, 'background') }
}

function requestOf({ fields, inputTokens, asks }: TextCall): ResponseRequest {
  const { input, ...settings } = fields
  const text = typeof input === 'string' ? input : JSON.stringify(input ?? '')
  return {
    prompt: text.slice(0, maxPrompt),
    settings: trimmed(settings) as ResponseRequest['settings'],
    inputTokens,
    ...(asks !== undefined && {
      asks: asks.map(({ kind, name, param }) => ({ kind, name, param })),
    }),
    ...(text.length > maxPrompt && { isCut: true as const }),
  }
}

/** There is none, or no longer. */
export const responseNotFound = (id: string): Refusal =>
  refuse('response_not_found', `there is no background response '${id.slice(0, 80)}'`)
