// Sends one create, from the accepted row to the upstream's reply. It is sent once; an unknown
// outcome is a state of its own.
import { type Refusal, refuse } from '../../../contract/errors.ts'
import type { Started, UpstreamError } from '../../../contract/provider.ts'
import { servingModel, type Task } from '../../../contract/task.ts'
import { withStep } from '../../../contract/timeline.ts'
import { crashPoint } from '../../../lib/crash-point.ts'
import { ensure } from '../../../lib/ensure.ts'
import { isUniqueConflict, type Tx } from '../../../store/index.ts'
import { findTaskRow, updateTask } from '../../../store/tasks/tasks.ts'
import type { Engine } from '../../engine.ts'
import { leavePlace } from '../../routing/channel-places.ts'
import { failureKind } from '../../routing/faults.ts'
import { recordFailure, recordSuccess } from '../../routing/learn.ts'
import type { PickedRoute } from '../../routing/pick-route.ts'
import { endTask } from '../end-task.ts'
import { addOtherLosses } from '../poll/find-lost.ts'
import { firstCheckMs } from '../poll/poll-schedule.ts'
import { retryWrite } from '../retry-write.ts'
import { askUpstream, publicError } from '../task-upstream.ts'
import type { Accepted } from './hold-task.ts'
import { type LostError, loseTrackOf, lostTrack } from './lose-track.ts'
import { moveTask } from './move-task.ts'
import type { TaskInput } from './task-members.ts'

export type FinishedReport = Extract<Started, { kind: 'finished' }>['report']

interface SendOptions {
  /** A caller waits for it: the poller skips it until the wait is over. */
  isWaitedFor?: boolean
}

type Outcome =
  /** As stored now. */
  | { result: Task | Refusal }
  /** It is over already; its end is still to be written. */
  | { report: FinishedReport }

type Sent = Outcome & { upstreamRequestId?: string }

export async function sendTask(
  engine: Engine,
  accepted: Accepted,
  input: TaskInput,
  { isWaitedFor = false }: SendOptions = {},
): Promise<Sent> {
  const { state, upstreamId, id } = accepted.task
  ensure(state === 'accepted' && upstreamId === undefined, `task ${id} is sent once`)
  const started = await sendOnce(engine, accepted, input)
  const outcome = await conclude(engine, accepted, started, isWaitedFor)
  const upstreamRequestId = 'upstreamRequestId' in started ? started.upstreamRequestId : undefined
  return { ...outcome, ...(upstreamRequestId !== undefined && { upstreamRequestId }) }
}

/** To each member of a virtual model at most once: the next one gets it when one has refused it. */
async function sendOnce(engine: Engine, accepted: Accepted, input: TaskInput): Promise<Started> {
  let sent = input
  for (;;) {
    const { task, picked, model } = accepted
    const sentMs = engine.clock.nowMs()
    const beganMs = engine.deadlines.processMs()
    const started = await start(engine, task, sent, picked)
    recordSent(engine, task, started, sentMs)
    crashPoint('task-answered')
    const { kind } = started
    if (kind === 'started' || kind === 'finished') {
      recordSuccess(engine, picked, model.name)
      return started
    }
    const { error } = started
    const isSilent = error.httpStatus === undefined && error.about === undefined
    const hasStoodStill = isSilent && engine.deadlines.stoodStillSince(beganMs)
    const failure = hasStoodStill ? 'stood_still' : failureKind(error)
    recordFailure(engine, picked, model.name, error, failure)
    const next =
      kind === 'refused' ? await moveTask(engine, accepted, input, started.error) : undefined
    if (next === undefined) return started
    sent = next
  }
}

function recordSent(engine: Engine, task: Task, started: Started, sentMs: number): void {
  const nowMs = engine.clock.nowMs()
  const code = 'error' in started ? started.error.code : undefined
  engine.meters?.taskCreated(task)
  engine.meters?.attempt(task.channel, nowMs - sentMs, code)
  engine.tracer?.sent(task, sentMs, nowMs, code)
}

async function start(
  engine: Engine,
  task: Task,
  input: TaskInput,
  picked: PickedRoute,
): Promise<Started> {
  const { route, channelState } = picked
  const { video, image, response } = engine.providers.get(route.protocol) ?? {}
  try {
    return await askUpstream(engine, task, picked, async (upstream, stop) => {
      if (input.kind === 'video' && video) return await video.start(input.request, upstream, stop)
      if (input.kind === 'response' && response) {
        return await response.start(input.call, upstream, stop)
      }
      ensure(input.kind === 'image' && image, `provider ${route.protocol} makes a ${input.kind}`)
      return await image.start(input.request, upstream, stop)
    })
  } catch (cause) {
    engine.log.error('unexpected error', { task_id: task.id, error: cause })
    const message = 'something went wrong in the gateway'
    return { kind: 'unknown', error: { code: 'internal_error', message, cause } }
  } finally {
    leavePlace(engine, route.channel, channelState, task.accountId)
  }
}

async function conclude(
  engine: Engine,
  { task }: Accepted,
  started: Started,
  isWaitedFor: boolean,
): Promise<Outcome> {
  if (started.kind === 'started') {
    return { result: await queue(engine, task, started, isWaitedFor) }
  }
  if (started.kind === 'finished') {
    const { report } = started
    if (report.state === 'succeeded') return { report }
    return { report: { ...report, error: publicError(engine, task, report.error) } }
  }
  const error = publicError(engine, task, started.error)
  if (started.kind === 'unknown') return { result: await loseTrack(engine, task, error) }
  crashPoint('task-refused')
  await retryWrite(engine, () => endTask(engine, task, { state: 'failed', error, isAnswer: true }))
  return { result: refusalFor(error) }
}

async function queue(
  engine: Engine,
  task: Task,
  { upstreamId, upstreamModel, otherIds }: Extract<Started, { kind: 'started' }>,
  isWaitedFor: boolean,
): Promise<Task | Refusal> {
  const nowMs = engine.clock.nowMs()
  const soonMs = Math.round(nowMs + firstCheckMs(engine.jobs.poller.durations, servingModel(task)))
  const { awaitedBy, ...mine } = task
  const queued = {
    ...(isWaitedFor ? task : mine),
    state: 'queued',
    timeline: withStep(task, sentStep(task, nowMs)),
    upstreamId,
    upstreamModel: upstreamModel ?? task.upstreamModel,
    updatedAtMs: nowMs,
    nextCheckAtMs: isWaitedFor ? task.nextCheckAtMs : soonMs,
  } as Task
  const write = () =>
    engine.store.tx(async (tx) => {
      const moved = (await updateTask(tx, queued, 'accepted')) || (await queueLate(tx, queued))
      await addOtherLosses(engine, tx, task, otherIds)
      return moved
    })
  const moved = await retryWrite(engine, write).catch((error: unknown) => {
    if (!isUniqueConflict(error)) throw error
    return undefined
  })
  if (moved === undefined) return loseTrack(engine, task, { message: sameIdTwice })
  crashPoint('task-queued')
  engine.jobs.poller.wake(queued.nextCheckAtMs)
  return moved ? queued : ((await findTaskRow(engine.store.read, task.id)) ?? queued)
}

const sentStep = ({ progress }: Task, atMs: number) =>
  ({ kind: 'sent', atMs, state: 'queued', progress }) as const

/** A very slow reply may find the task already marked unknown: now its outcome is known. */
async function queueLate(tx: Tx, queued: Task): Promise<boolean> {
  const row = await findTaskRow(tx, queued.id)
  if (row === undefined) return false
  const timeline = withStep(row, sentStep(queued, queued.updatedAtMs))
  return updateTask(tx, { ...queued, checks: row.checks, timeline }, ['accepted', 'unknown'])
}

const sameIdTwice = 'the upstream named it as a task that exists already'

/** Unknown whether the upstream has it: it is never sent again. */
async function loseTrack(engine: Engine, task: Task, error: LostError): Promise<Refusal> {
  await retryWrite(engine, () => loseTrackOf(engine, task, error))
  crashPoint('task-lost')
  const { message, upstreamRequestId } = error
  return lostTrack(task, message, { ...(upstreamRequestId !== undefined && { upstreamRequestId }) })
}

export function refusalFor(error: UpstreamError): Refusal {
  const { upstreamRequestId, retryAfterSeconds } = error
  return refuse(error.code, error.message, {
    ...(upstreamRequestId !== undefined && { upstreamRequestId }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
}
