// One look at one task: what the upstream says becomes the task's next state, or its end. What is
// not understood is still running, and nothing runs for ever.
import type { TaskReport, UpstreamError } from '../../contract/provider.ts'
import type { Task } from '../../contract/task.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { crashPoint } from '../../lib/crash-point.ts'
import { ensure } from '../../lib/ensure.ts'
import { type LeasedTask, updateTask } from '../../store/tasks.ts'
import { cleaned } from '../clean-error.ts'
import type { Engine } from '../engine.ts'
import { afterFailureMs, learnDuration, nextCheckMs } from './check-times.ts'
import { endTask } from './end-task.ts'
import { homeOf, taskUpstream } from './task-upstream.ts'

/** Longest a task may take, and longest a create may stay unanswered for. */
const lifetimeMs = 24 * 3600_000
const unknownMs = 15 * 60_000
/** A task the upstream does not know, or calls done without a result, is asked for again. */
const mostDoubts = 5
const lostAfterMs = 10 * 60_000

export async function advanceTask(engine: Engine, { task, fence }: LeasedTask): Promise<void> {
  const nowMs = engine.clock.nowMs()
  const ageMs = nowMs - task.createdAtMs
  if (task.upstreamId === undefined) return advanceUnsent(engine, task, fence, ageMs)
  if (ageMs > lifetimeMs) return end(engine, task, tooOld)
  const home = homeOf(engine, task)
  if (home === undefined) return later(engine, { ...task }, fence, afterFailureMs(5, engine.random))
  const { route, key } = home
  const stop = new Cancellation()
  const { video } = engine.providers.get(task.protocol) ?? {}
  ensure(video !== undefined, `provider ${task.protocol} makes videos`)
  const deadline = engine.deadlines.start(route.channel.timeouts, stop)
  const upstream = taskUpstream(engine, task, route, key, deadline)
  const checked = await video.check(task.upstreamId, upstream, stop).finally(() => deadline.end())
  crashPoint('task-looked')
  const asked: Task = { ...task, checks: task.checks + 1 }
  if (checked.kind !== 'report') {
    return later(engine, asked, fence, afterFailureMs(task.checks, engine.random))
  }
  return apply(engine, asked, fence, checked.report)
}

/** Its create was cut off: nobody knows whether it arrived, and it is never sent again. */
async function advanceUnsent(engine: Engine, task: Task, fence: number, ageMs: number) {
  if (ageMs > unknownMs) return end(engine, task, neverHeardOf)
  if (task.state === 'unknown') {
    return later(engine, task, fence, Math.max(1_000, unknownMs - ageMs))
  }
  const lost: Task = {
    ...task,
    state: 'unknown',
    error: { code: neverHeardOf.code, message: neverHeardOf.message },
    updatedAtMs: engine.clock.nowMs(),
    nextCheckAtMs: task.createdAtMs + unknownMs,
  }
  await engine.store.tx((tx) => updateTask(tx, lost, task.state, fence))
  engine.poller.wake(lost.nextCheckAtMs)
}

async function apply(engine: Engine, task: Task, fence: number, report: TaskReport) {
  const nowMs = engine.clock.nowMs()
  const ageMs = nowMs - task.createdAtMs
  switch (report.state) {
    case 'succeeded':
      if (report.media.length === 0) return doubt(engine, task, fence, mostDoubts, 0, noOutput)
      learnDuration(engine.durations, task.model, ageMs)
      await endTask(engine, task, report)
      return
    case 'failed':
      await endTask(engine, task, {
        state: 'failed',
        error: told(engine, task, report.error),
        raw: report.raw,
      })
      return
    case 'cancelled':
      await endTask(engine, task, { state: 'cancelled' })
      return
    case 'missing':
      return doubt(engine, task, fence, 3, lostAfterMs, lostUpstream)
    default:
      return goOn(engine, task, fence, report)
  }
}

/** Shown states only go forward: what ran is not queued again. */
async function goOn(
  engine: Engine,
  task: Task,
  fence: number,
  report: Extract<TaskReport, { state: 'queued' | 'running' }>,
) {
  const nowMs = engine.clock.nowMs()
  const running = task.state === 'running' || report.state === 'running'
  const next: Task = { ...task, state: running ? 'running' : 'queued', doubts: 0 }
  if (running) next.startedAtMs = task.startedAtMs ?? nowMs
  next.progress = Math.max(task.progress, Math.min(99, report.progress ?? (running ? 30 : 0)))
  const elapsedMs = nowMs - task.createdAtMs
  const waitMs = nextCheckMs(engine.durations, task.model, elapsedMs, engine.random)
  return later(engine, next, fence, waitMs, task.state)
}

async function doubt(
  engine: Engine,
  task: Task,
  fence: number,
  most: number,
  atLeastMs: number,
  error: UpstreamError,
) {
  const doubts = task.doubts + 1
  const ageMs = engine.clock.nowMs() - task.createdAtMs
  if (doubts >= most && ageMs >= atLeastMs) return end(engine, task, error)
  return later(engine, { ...task, doubts }, fence, afterFailureMs(doubts, engine.random))
}

async function later(
  engine: Engine,
  task: Task,
  fence: number,
  waitMs: number,
  still = task.state,
): Promise<void> {
  const nowMs = engine.clock.nowMs()
  const next: Task = { ...task, updatedAtMs: nowMs, nextCheckAtMs: Math.round(nowMs + waitMs) }
  await engine.store.tx((tx) => updateTask(tx, next, still, fence))
  engine.poller.wake(next.nextCheckAtMs)
}

async function end(engine: Engine, task: Task, error: UpstreamError): Promise<void> {
  await endTask(engine, task, { state: 'failed', error })
}

function told(engine: Engine, task: Task, error: UpstreamError): UpstreamError {
  const body = JSON.stringify(task.request)
  return cleaned(engine, error, { body, model: task.model }, task)
}

const tooOld: UpstreamError = {
  code: 'upstream_timeout',
  message: 'the upstream did not finish in time',
}
const neverHeardOf: UpstreamError = {
  code: 'upstream_outcome_unknown',
  message: 'nobody knows whether the upstream accepted it; it was not sent again and costs nothing',
}
const noOutput: UpstreamError = {
  code: 'upstream_invalid_response',
  message: 'the upstream called it done and delivered nothing',
}
const lostUpstream: UpstreamError = {
  code: 'upstream_error',
  message: 'the upstream no longer knows this task',
}
