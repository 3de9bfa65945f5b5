// One video or image task of a customer: created with its hold, and ended with its charge, by the engine.
import { imageAddress, mediaAddress } from '../../sandbox/media/media-address.ts'
import type { CallContext } from '../contract/caller-api.ts'
import type { Token } from '../contract/catalog.ts'
import type { RequestRecord } from '../contract/requests.ts'
import {
  type ImageRequest,
  idPrefixes,
  type OutputMedia,
  type Task,
  type VideoRequest,
} from '../contract/task.ts'
import { withSteps } from '../contract/timeline.ts'
import { writeTask } from '../engine/tasks/create/hold-task.ts'
import { endTask, type TaskEnd } from '../engine/tasks/end-task.ts'
import { holdFor } from '../engine/tasks/task-charge.ts'
import { keyFingerprint } from '../engine/tasks/task-upstream.ts'
import { type Caller, requestIdOf, tagsOf } from './calls.ts'
import { type DemoModel, demoModel } from './offer.ts'
import { dayMs } from './working-day.ts'
import type { World } from './world.ts'

/** In the words of the customer. */
const chineseScenes = [
  '雨后的老街，霓虹灯倒映在石板路上',
  '清晨的西湖，薄雾中的小船，远景',
  '产品特写：青瓷茶杯，柔和的窗光',
  '高铁穿过金色的油菜花田，航拍',
]
const scenes = [
  'A sailing boat at sunrise, seen from above',
  'Northern lights over a fishing village, slow pan',
  'A paper crane unfolds on a wooden desk, macro',
  'A lighthouse in a storm, waves against the rocks',
  'Product shot of a ceramic cup, soft window light',
  'A tram climbs a steep street in the evening sun',
]

/** A task under way, and how and when it ends. */
export interface StartedTask {
  task: Task
  end: TaskEnd
  endMs: number
  /** False: the account could not pay for it. */
  isCreated: Promise<boolean>
}

/** Undefined when its model cannot make it. */
export function startTask(world: World, caller: Caller, token: Token): StartedTask | undefined {
  const { random, clock } = world
  const task = newTask(world, caller, demoModel(caller.use.model))
  if (task === undefined) return undefined
  const runMs = Math.round((task.kind === 'video' ? 74_000 : 9_000) * random.spread())
  const end = endingOf(world, task, runMs)
  const answerMs = Math.round(300 * random.spread())
  const isCreated = create(world, task, token, answerMs)
  return { task, end, endMs: clock.ms + runMs, isCreated }
}

async function create(
  { engine }: World,
  task: Task,
  token: Token,
  answerMs: number,
): Promise<boolean> {
  const { requestId, createdAtMs: atMs, tags } = task
  const ctx: CallContext = {
    ...{ requestId, atMs, token },
    signal: new AbortController().signal,
    errorEvent: () => new Uint8Array(),
    ...(tags !== undefined && { tags }),
  }
  const written = await writeTask(engine, ctx, task, undefined)
  if (written === 'done') await engine.store.record(createRecord(task, answerMs))
  return written === 'done'
}

/** Its time must have come. */
export const finishTask = ({ engine }: World, { task, end }: StartedTask) =>
  endTask(engine, task, end)

function newTask(world: World, caller: Caller, model: DemoModel): Task | undefined {
  const { engine, clock, random } = world
  const price = engine.prices.current(model.name, caller.accountId)!
  const channel = engine.catalog.channels.find(({ name }) => name === model.channels[0])!
  const asked = requestOf(world, caller, model)
  const holdNanos = holdFor(
    price.terms,
    asked.kind === 'image' ? asked : { ...asked, model: model.name },
    clock.ms,
  )
  if (holdNanos === undefined) return undefined
  const tags = tagsOf(caller)
  const createdAtMs = clock.ms
  return {
    ...asked,
    id: `${idPrefixes[asked.kind]}_${createdAtMs.toString(16).padStart(12, '0')}${random.hex(20)}`,
    accountId: caller.accountId,
    tokenId: caller.tokenId,
    requestId: requestIdOf(world),
    interface: model.interfaces[0]!,
    model: model.name,
    protocol: model.protocols![0]!,
    channelId: channel.id,
    channel: channel.name,
    upstreamModel: model.upstream ?? model.name,
    keyFingerprint: keyFingerprint(engine, channel.keys[0]!),
    upstreamId: `up-${random.hex(16)}`,
    priceId: price.id,
    holdNanos,
    ...underWay(createdAtMs),
    ...(tags !== undefined && { tags }),
  } as Task
}

/** As the row of a task is that its upstream has begun. */
function underWay(createdAtMs: number) {
  const sentMs = createdAtMs + 310
  const steps = [
    { kind: 'created', atMs: createdAtMs, state: 'accepted', progress: 0 },
    { kind: 'sent', atMs: sentMs, state: 'queued', progress: 0 },
    { kind: 'polled', atMs: sentMs + 2_000, state: 'running', progress: 10 },
  ] as const
  return {
    ...{ state: 'running', progress: 10, chargeNanos: 0n, media: [], createdAtMs },
    ...{ updatedAtMs: sentMs, startedAtMs: sentMs, nextCheckAtMs: sentMs + 2_000 },
    ...{ checks: 1, misses: 0, hidden: false, timeline: withSteps({ createdAtMs }, steps) },
  }
}

function requestOf({ random }: World, { customer }: Caller, model: DemoModel) {
  const prompt = random.pick(customer.zone === 'Asia/Shanghai' ? chineseScenes : scenes)
  if (model.kind === 'image') {
    const request: ImageRequest = { prompt, count: random.between(1, 3), media: [], isEdit: false }
    return { kind: 'image' as const, request }
  }
  const request: VideoRequest = {
    prompt,
    seconds: random.pick([5, 5, 8, 10]),
    resolution: random.pick(['720p', '1080p']),
    media: [],
  }
  return { kind: 'video' as const, request }
}

/** Of 100 tasks some fail, and some are cancelled. */
function endingOf(world: World, task: Task, runMs: number): TaskEnd {
  const { random, clock } = world
  const polled = { kind: 'polled' as const, atMs: clock.ms + 4_000, lastMs: clock.ms + runMs - 500 }
  const steps = [{ ...polled, times: Math.max(1, Math.round(runMs / 3_000)) }]
  const chance = random.next()
  if (chance < 0.03) {
    const error = {
      code: 'content_policy_violation' as const,
      message: 'the prompt was refused by the content filter',
    }
    return { state: 'failed', error, steps }
  }
  if (chance < 0.05) return { state: 'cancelled', byCaller: true, steps }
  const media = mediaOf(world, task, clock.ms + runMs + dayMs)
  const usage =
    task.kind === 'video' ? { outputSeconds: task.request.seconds } : { images: media.length }
  return { state: 'succeeded', media, usage, raw: usage, steps }
}

/** Where the sandbox serves them, for a day. */
function mediaOf({ random, mediaOrigin }: World, task: Task, expiresAtMs: number): OutputMedia[] {
  const seed = random.hex(10)
  const until = Math.floor(expiresAtMs / 1_000)
  if (task.kind === 'video') {
    const { seconds, resolution } = task.request
    const [width, height] = resolution === '1080p' ? [1920, 1080] : [1280, 720]
    const url = mediaAddress(mediaOrigin, { seed, width, height, seconds }, until)
    return [{ kind: 'video', url, expiresAtMs }]
  }
  const count = task.kind === 'image' ? task.request.count : 0
  return Array.from({ length: count }, (_, index) => {
    const image = { seed, index, width: 1024, height: 1024 }
    return { kind: 'image', url: imageAddress(mediaOrigin, image, until), expiresAtMs }
  })
}

/** The row of the request that created it. */
const createRecord = (task: Task, ms: number): RequestRecord => ({
  requestId: task.requestId,
  atMs: task.createdAtMs,
  accountId: task.accountId,
  tokenId: task.tokenId,
  interface: task.interface,
  model: task.model,
  channel: task.channel,
  status: 200,
  chargeNanos: 0n,
  totalMs: ms,
  ...(task.tags !== undefined && { tags: task.tags }),
  detail: {
    stream: false,
    ending: 'complete',
    taskId: task.id,
    attempts: [{ channel: task.channel, afterMs: 2, ms: ms - 2, status: 200 }],
  },
})
