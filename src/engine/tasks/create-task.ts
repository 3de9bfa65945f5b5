// A task from the caller's wish to the upstream's promise. Row and hold are committed before
// anything is sent; the create goes out once, and what nobody knows stays a state of its own.
//
//   transaction 1: row `accepted` + hold ──> send ──> transaction 2: `queued`, or `failed` + release
//                                                └──> `unknown`: never sent again
import type { Route } from '../../catalog/snapshot.ts'
import type { Interface, Model } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Started, UpstreamError } from '../../contract/provider.ts'
import type { RequestRecord } from '../../contract/requests.ts'
import type { Task, VideoRequest } from '../../contract/task.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { crashPoint } from '../../lib/crash-point.ts'
import { newId } from '../../lib/ids.ts'
import { withoutInlineData } from '../../lib/inline-data.ts'
import { isUniqueConflict } from '../../store/index.ts'
import { findTaskRow, insertTask, updateTask } from '../../store/tasks.ts'
import { enter, modelNotFound } from '../admit.ts'
import { endRecord, newRecord, recordUnbilled, writeRecord } from '../call-record.ts'
import { cleaned } from '../clean-error.ts'
import type { CallContext, Engine } from '../engine.ts'
import { dropProbes, noteFailure, noteSuccess } from '../learn.ts'
import { type PickedRoute, pickRoute } from '../pick-route.ts'
import { firstCheckMs } from './check-times.ts'
import { endTask } from './end-task.ts'
import { noteAbsorbed } from './find-lost.ts'
import { insist } from './insist.ts'
import { patienceOf } from './patience.ts'
import {
  type Created,
  type CreateKey,
  createOnce,
  type KeyedCreate,
  keepKey,
  keyedCreate,
  lostTrack,
  replayedIn,
} from './repeat-create.ts'
import { keyMark, taskUpstream } from './task-upstream.ts'
import { holdFor } from './video-charge.ts'

export interface VideoWish {
  interface: Interface
  model: string
  request: VideoRequest
  /** The caller's name for this create; asked again under it, nothing is made again. */
  key?: CreateKey
}

export async function createVideo(
  engine: Engine,
  ctx: CallContext,
  wish: VideoWish,
): Promise<Created | Refusal> {
  const record = newRecord(ctx, wish.interface, wish.model)
  const pass = await enter(engine, ctx, 0)
  if (pass instanceof Refusal) return recordUnbilled(engine, record, 'refused', pass)
  engine.running++
  try {
    return await createAdmitted(engine, ctx, wish, record)
  } finally {
    engine.running--
    pass.leave(0)
  }
}

async function createAdmitted(
  engine: Engine,
  ctx: CallContext,
  wish: VideoWish,
  record: RequestRecord,
): Promise<Created | Refusal> {
  const keyed = keyedCreate(ctx.token, wish)
  const made = await createOnce(engine, keyed, () => accept(engine, ctx, wish, keyed))
  const replayOf = replayedIn(made)
  if (replayOf !== undefined) record.detail.replayOf = replayOf
  if (made instanceof Refusal) return recordUnbilled(engine, record, 'refused', made)
  if ('replayed' in made) {
    writeRecord(engine, endRecord(engine, record, 'complete', 200))
    return made
  }
  const { task, picked, model } = made
  crashPoint('task-accepted')
  record.channel = task.channel
  record.priceId = task.priceId
  const started = await start(engine, task, wish.request, picked)
  crashPoint('task-answered')
  const result = await conclude(engine, task, picked, model, started)
  if (result instanceof Refusal) return recordUnbilled(engine, record, 'failed', result)
  if (started.kind === 'started' && started.upstreamRequestId !== undefined) {
    record.upstreamRequestId = started.upstreamRequestId
  }
  writeRecord(engine, endRecord(engine, record, 'complete', 200))
  return { task: result, replayed: false }
}

interface Accepted {
  task: Task
  picked: PickedRoute
  model: Model
}

/** Permission, a channel, the price, the hold: all of it durable when this resolves. */
async function accept(
  engine: Engine,
  ctx: CallContext,
  wish: VideoWish,
  keyed: KeyedCreate | undefined,
): Promise<Accepted | Refusal | 'taken'> {
  const model = engine.catalog.visible(ctx.token, wish.model)
  if (model === undefined) return modelNotFound(wish.model)
  const routes = videoRoutes(engine, model, wish.interface)
  if (routes.length === 0) {
    const ways = engine.catalog.servedBy(model).join(', ')
    const message = `model '${wish.model}' cannot be used here; it is served by: ${ways}`
    return refuse('model_not_supported', message, { param: 'model' })
  }
  const busy = notNow(engine, ctx.token.accountId)
  if (busy !== undefined) return busy
  const price = engine.prices.current(model.pricedAs ?? model.name)
  const holdNanos = price && holdFor(price.terms, model.name, wish.request)
  if (price === undefined || holdNanos === undefined) return modelNotFound(wish.model)
  const picked = pickRoute(engine, routes)
  if (picked instanceof Refusal) return picked
  if (picked === 'full') return everybodyBusy
  const task = newTask(engine, ctx, wish, picked, { priceId: price.id, holdNanos })
  const held = await engine.ledger.holdTask(
    task.id,
    task.accountId,
    holdNanos,
    task.createdAtMs,
    async (tx) => {
      if (keyed !== undefined && !(await keepKey(engine, tx, keyed, task))) return false
      return insertTask(tx, task)
    },
  )
  if (held === 'done') return { task, picked, model }
  dropProbes(picked)
  if (held === 'undone') return 'taken'
  return refuse('insufficient_quota', "the account's available balance is too low for this video")
}

const everybodyBusy = refuse('no_available_channel', 'every channel for this model is busy', {
  retryAfterSeconds: 1,
})

const videoRoutes = (engine: Engine, model: Model, use: Interface): Route[] =>
  engine.catalog
    .routes(model, use)
    .filter(({ protocol }) => engine.providers.get(protocol)?.video !== undefined)

function notNow(engine: Engine, accountId: string): Refusal | undefined {
  if (engine.draining) {
    return refuse('overloaded', 'the gateway is shutting down', { retryAfterSeconds: 2 })
  }
  if (engine.store.healthy && engine.ledger.usable(accountId)) return undefined
  const message = 'the gateway cannot record charges at the moment'
  return refuse('overloaded', message, { retryAfterSeconds: 2 })
}

function newTask(
  engine: Engine,
  ctx: CallContext,
  { interface: use, model, request }: VideoWish,
  { route, key }: PickedRoute,
  billing: Pick<Task, 'priceId' | 'holdNanos'>,
): Task {
  const nowMs = engine.clock.nowMs()
  return {
    id: newId('video', nowMs),
    accountId: ctx.token.accountId,
    tokenId: ctx.token.id,
    requestId: ctx.requestId,
    interface: use,
    model,
    protocol: route.protocol,
    channelId: route.channel.id,
    channel: route.channel.name,
    upstreamModel: route.upstreamModel,
    keyMark: keyMark(engine, key),
    state: 'accepted',
    progress: 0,
    // It is never sent again, so its pictures need not be kept.
    request: withoutInlineData(request),
    ...billing,
    chargeNanos: 0n,
    media: [],
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    // If nobody comes back to it, its create was cut off: then it is for the poller.
    nextCheckAtMs:
      nowMs + Math.min(route.channel.timeouts.firstByteMs + graceMs, patienceOf(engine).unknownMs),
    checks: 0,
    doubts: 0,
    hidden: false,
  }
}

/** A create that is still under way must not be taken for one that was cut off. */
const graceMs = 60_000

async function start(
  engine: Engine,
  task: Task,
  request: VideoRequest,
  { route, key, standing }: PickedRoute,
): Promise<Started> {
  const stop = new Cancellation()
  const deadline = engine.deadlines.start(route.channel.timeouts, stop)
  const { video } = engine.providers.get(route.protocol)!
  standing.busy++
  try {
    const upstream = taskUpstream(engine, task, route, key, deadline)
    return await video!.start(request, upstream, stop)
  } catch (cause) {
    engine.log.error('unexpected error', { task_id: task.id, error: cause })
    const message = 'something went wrong in the gateway'
    return { kind: 'unknown', error: { code: 'internal_error', message, cause } }
  } finally {
    deadline.end()
    standing.busy--
    engine.waiting.freed(route.channel.id)
  }
}

async function conclude(
  engine: Engine,
  task: Task,
  picked: PickedRoute,
  model: Model,
  started: Started,
): Promise<Task | Refusal> {
  const nowMs = engine.clock.nowMs()
  if (started.kind === 'started') {
    noteSuccess(engine, picked, model.name)
    noteAbsorbed(engine, task, started.otherIds)
    const queued: Task = {
      ...task,
      state: 'queued',
      upstreamId: started.upstreamId,
      upstreamModel: started.upstreamModel ?? task.upstreamModel,
      updatedAtMs: nowMs,
      nextCheckAtMs: Math.round(nowMs + firstCheckMs(engine.durations, task.model)),
    }
    // An answer that took very long may find itself given up as unknown: now it is known.
    const still = ['accepted', 'unknown'] as const
    const write = () => engine.store.tx((tx) => updateTask(tx, queued, still))
    const moved = await insist(engine, write).catch((error: unknown) => {
      if (!isUniqueConflict(error)) throw error
      return undefined
    })
    if (moved === undefined) return loseTrack(engine, task, sameIdTwice)
    crashPoint('task-queued')
    engine.poller.wake(queued.nextCheckAtMs)
    return moved ? queued : ((await findTaskRow(engine.store.read, task.id)) ?? queued)
  }
  const error = told(engine, task, picked, started.error)
  noteFailure(engine, picked, model.name, started.error)
  if (started.kind === 'refused') {
    crashPoint('task-refused')
    await insist(engine, () => endTask(engine, task, { state: 'failed', error }))
    return refusalFor(error)
  }
  return loseTrack(engine, task, error.message)
}

const sameIdTwice = 'the upstream named it as a task that exists already'

/** Nobody knows whether the upstream has it: it is never sent again. */
async function loseTrack(engine: Engine, task: Task, why: string): Promise<Refusal> {
  const nowMs = engine.clock.nowMs()
  const lost: Task = {
    ...task,
    state: 'unknown',
    error: { code: 'upstream_outcome_unknown', message: why },
    updatedAtMs: nowMs,
    nextCheckAtMs: nowMs,
  }
  await insist(engine, () => engine.store.tx((tx) => updateTask(tx, lost, 'accepted')))
  crashPoint('task-lost')
  engine.poller.wake(nowMs)
  return lostTrack(task, why)
}

function told(engine: Engine, task: Task, { route }: PickedRoute, error: UpstreamError) {
  const body = JSON.stringify(task.request)
  return cleaned(engine, error, { body, model: task.model }, route)
}

function refusalFor(error: UpstreamError): Refusal {
  const { upstreamRequestId, retryAfterSeconds } = error
  return refuse(error.code, error.message, {
    ...(upstreamRequestId !== undefined && { upstreamRequestId }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
}
