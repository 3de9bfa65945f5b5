// Decides whether a task may be created, and commits in one transaction what must be durable before
// anything is sent: its row, its hold, and its caller's key.

import type { Route } from '../../../catalog/snapshot.ts'
import type { CallContext, CreateKey } from '../../../contract/caller-api.ts'
import type { Interface, Model } from '../../../contract/catalog.ts'
import { Refusal, refuse } from '../../../contract/errors.ts'
import { modelNotFound } from '../../../contract/not-found.ts'
import type { ImageTask, Task, TaskKind, VideoTask } from '../../../contract/task.ts'
import { withStep } from '../../../contract/timeline.ts'
import { newId } from '../../../lib/crypto/ids.ts'
import { gatewayOf } from '../../../store/index.ts'
import { insertTask } from '../../../store/tasks/tasks.ts'
import { accountSuspended } from '../../admission/admit.ts'
import type { Engine } from '../../engine.ts'
import { leavePlace } from '../../routing/channel-places.ts'
import { dropProbes } from '../../routing/learn.ts'
import type { PickedRoute } from '../../routing/pick-route.ts'
import { takePlace } from '../../routing/take-place.ts'
import { taskTrace } from '../../telemetry/traces/traced-client.ts'
import { keptRequest } from '../kept-request.ts'
import { taskTimeoutsOf } from '../poll/task-timeouts.ts'
import { holdFor, plainBound } from '../task-charge.ts'
import { keyFingerprint } from '../task-upstream.ts'
import { type KeyedCreate, keepKey } from './repeat-create.ts'

/** A caller's input for a task. */
export type TaskInput = (
  | Pick<VideoTask, 'kind' | 'request'>
  | Pick<ImageTask, 'kind' | 'request'>
) & {
  interface: Interface
  model: string
  /** The idempotency key: a repeated create under it makes nothing again. */
  key?: CreateKey
  /** It continues a task, and so goes to the channel and key that made that one. */
  pinnedTo?: Pick<Task, 'channelId' | 'keyFingerprint' | 'protocol'>
} & Pick<Task, 'externalId' | 'callbackUrl'>

interface Acceptance {
  /** Until then only the caller's connection waits for it. */
  waitedForMs?: number
}

export interface Accepted {
  task: Task
  picked: PickedRoute
  model: Model
}

/**
 * Permission, a channel, the price, the hold: all of it durable when this resolves. An accepted
 * task is in `engine.creating` until its create is over.
 */
export async function acceptTask(
  engine: Engine,
  ctx: CallContext,
  input: TaskInput,
  keyed: KeyedCreate | undefined,
  how: Acceptance = {},
): Promise<Accepted | Refusal | 'taken'> {
  const model = engine.catalog.visible(ctx.token, input.model)
  if (model === undefined) return modelNotFound(input.model)
  const routes = routesFor(engine, model, input)
  if (routes.length === 0) {
    const ways = engine.catalog.servedBy(model).join(', ')
    const message = `model '${input.model}' cannot be used here; it is served by: ${ways}`
    return refuse('model_not_supported', message, { param: 'model' })
  }
  const busy = notNow(engine, ctx.token.accountId)
  if (busy !== undefined) return busy
  const price = engine.prices.current(model.pricedAs ?? model.name, ctx.token.accountId)
  if (price === undefined) return modelNotFound(input.model)
  const picked = await takeFor(engine, ctx, pinned(engine, routes, input.pinnedTo))
  if (picked instanceof Refusal) return picked
  const asked = asItGoesUp(engine, model, input, picked)
  const holdNanos = holdFor(price.terms, asked)
  if (holdNanos === undefined) {
    leavePlace(engine, picked.route.channel, picked.channelState, ctx.token.accountId)
    dropProbes(picked)
    return modelNotFound(input.model)
  }
  const make = () => newTask(engine, ctx, asked, picked, { priceId: price.id, holdNanos, how })
  const { task, written } = await writeTask(engine, picked, ctx.token.accountId, make, keyed)
  if (written === 'done') return { task, picked, model }
  dropProbes(picked)
  if (written === 'named') return nameTaken
  if (written === 'taken') return written
  return refuse(
    'insufficient_quota',
    `the account's available balance is too low for this ${input.kind}`,
  )
}

function pinned(engine: Engine, routes: Route[], to: TaskInput['pinnedTo']): Route[] {
  if (to === undefined) return routes
  return routes
    .filter(({ channel, protocol }) => channel.id === to.channelId && protocol === to.protocol)
    .map((route) => {
      const keys = route.channel.keys.filter(
        (key) => keyFingerprint(engine, key) === to.keyFingerprint,
      )
      return { ...route, channel: { ...route.channel, keys } }
    })
    .filter(({ channel }) => channel.keys.length > 0)
}

/** With its maximum at the upstream that was picked. */
function asItGoesUp(
  engine: Engine,
  model: Model,
  input: TaskInput,
  { route }: PickedRoute,
): TaskInput {
  if (input.kind !== 'video') return input
  const { request } = input
  const outlook = engine.providers.get(route.protocol)?.video?.outlook?.(request, model.name)
  const expected = request.native === undefined ? {} : outlook?.expected
  const bound = outlook?.bound ?? plainBound(model.name, request)
  return { ...input, request: { ...request, ...expected, bound } }
}

const takeFor = (engine: Engine, { token, signal }: CallContext, routes: readonly Route[]) => {
  const { accountId } = token
  const take = (picked: PickedRoute) => {
    picked.channelState.take(accountId)
    return picked
  }
  return takePlace(engine, routes, { accountId, signal, take })
}

/** It keeps its slot at the channel only if the write succeeds. */
async function writeTask(
  engine: Engine,
  { route, channelState }: PickedRoute,
  accountId: string,
  make: () => Task,
  keyed: KeyedCreate | undefined,
): Promise<{ task: Task; written: 'done' | 'named' | 'taken' | 'insufficient' }> {
  let held: Awaited<ReturnType<Engine['ledger']['holdTask']>> | undefined
  let id = ''
  try {
    const task = make()
    let isNamed = false
    const { holdNanos, createdAtMs } = task
    id = task.id
    engine.creating.add(id)
    held = await engine.ledger.holdTask(id, accountId, holdNanos, createdAtMs, async (tx) => {
      isNamed = false
      if (keyed !== undefined && !(await keepKey(engine, tx, keyed, task))) return false
      isNamed = !(await insertTask(tx, task))
      return !isNamed
    })
    if (held === 'undone') return { task, written: isNamed ? 'named' : 'taken' }
    return { task, written: held === 'done' ? held : 'insufficient' }
  } finally {
    if (held !== 'done') {
      engine.creating.delete(id)
      leavePlace(engine, route.channel, channelState, accountId)
    }
  }
}

const nameTaken = refuse('invalid_request', 'another task has this external_task_id', {
  param: 'external_task_id',
})

const routesFor = (
  engine: Engine,
  model: Model,
  { interface: use, kind }: { interface: Interface; kind: TaskKind },
): Route[] =>
  engine.catalog
    .routes(model, use)
    .filter(({ protocol }) => engine.providers.get(protocol)?.[kind] !== undefined)

function notNow(engine: Engine, accountId: string): Refusal | undefined {
  if (engine.draining) {
    return refuse('overloaded', 'the gateway is shutting down', { retryAfterSeconds: 2 })
  }
  if (engine.clockWatch?.refusal !== undefined) return engine.clockWatch.refusal
  if (engine.ledger.stopped.has(accountId)) return accountSuspended
  if (engine.store.healthy && engine.ledger.usable(accountId)) return undefined
  const message = 'the gateway cannot record charges at the moment'
  return refuse('overloaded', message, { retryAfterSeconds: 2 })
}

function newTask(
  engine: Engine,
  ctx: CallContext,
  input: TaskInput,
  { route, key }: PickedRoute,
  { how, ...billing }: Pick<Task, 'priceId' | 'holdNanos'> & { how: Acceptance },
): Task {
  const nowMs = engine.clock.nowMs()
  const { interface: use, model, externalId, callbackUrl } = input
  return {
    ...askedFor(input),
    id: newId(input.kind, nowMs),
    accountId: ctx.token.accountId,
    tokenId: ctx.token.id,
    requestId: ctx.requestId,
    interface: use,
    model,
    protocol: route.protocol,
    channelId: route.channel.id,
    channel: route.channel.name,
    upstreamModel: route.upstreamModel,
    keyFingerprint: keyFingerprint(engine, key),
    state: 'accepted',
    progress: 0,
    ...billing,
    chargeNanos: 0n,
    media: [],
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    // If no result is written by then, its create was cut off, and the poller takes over.
    nextCheckAtMs: Math.max(
      nowMs +
        Math.min(route.channel.timeouts.firstByteMs + graceMs, taskTimeoutsOf(engine).unknownMs),
      how.waitedForMs === undefined ? 0 : nowMs + how.waitedForMs + graceMs,
    ),
    checks: 0,
    misses: 0,
    hidden: false,
    timeline: withStep({ createdAtMs: nowMs }, created(nowMs)),
    ...(ctx.trace !== undefined && { trace: taskTrace(ctx.trace) }),
    ...(externalId !== undefined && { externalId }),
    ...(callbackUrl !== undefined && { callbackUrl }),
    awaitedBy: gatewayOf(engine.store),
    ...(how.waitedForMs !== undefined && input.key === undefined && { ephemeral: true }),
  }
}

const created = (atMs: number) =>
  ({ kind: 'created', atMs, state: 'accepted', progress: 0 }) as const

const askedFor = (input: TaskInput) =>
  input.kind === 'video'
    ? { kind: input.kind, request: keptRequest(input.request) }
    : { kind: input.kind, request: keptRequest(input.request) }

/** A create in progress must not be treated as cut off. */
const graceMs = 60_000
