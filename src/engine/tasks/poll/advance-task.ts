// One poll of one task: the upstream's report becomes the task's next state, or its end. An unknown
// report counts as running, and a time-out ends every task.
import type { Checked, TaskReport, UpstreamError } from '../../../contract/provider.ts'
import {
  isOwnCall,
  type OutputMedia,
  type ResponseTask,
  servingModel,
  type Task,
  type TaskUsage,
} from '../../../contract/task.ts'
import { withSteps } from '../../../contract/timeline.ts'
import { sureNowMs } from '../../../lib/clock.ts'
import { crashPoint } from '../../../lib/crash-point.ts'
import { ensure } from '../../../lib/ensure.ts'
import type { LeasedTask } from '../../../store/tasks/tasks.ts'
import { costOfNothing, lossOfTask } from '../../books/losses.ts'
import { isUnderWay } from '../create/under-way.ts'
import { endTask, type PollStep } from '../end-task.ts'
import type { TaskDeps } from '../task-deps.ts'
import { askUpstream, originOf, pollTargetFor, publicError } from '../task-upstream.ts'
import { canAsk, findLost } from './find-lost.ts'
import { afterFailureMs, learnDuration, nextCheckMs } from './poll-schedule.ts'
import { taskTimeoutsOf } from './task-timeouts.ts'

/** A task that succeeded without a result, or that the upstream does not know, is polled again. */
const maxEmpty = 5
const minMissing = 3
/** Factor of the time-out for a lost create at an upstream that cannot be searched. */
const unheardFactor = 4
/** A task that another gateway owns is checked again after this, or twice that. */
const underWayMs = 5_000

export async function advanceTask(deps: TaskDeps, leased: LeasedTask): Promise<void> {
  const { fence } = leased
  if (await isUnderWay(deps, leased.task)) {
    return later(deps, leased.task, fence, underWayMs * (1 + deps.random()), [])
  }
  const { awaitedBy: _, ...rest } = leased.task
  const task = rest as Task
  const ageMs = ageOf(deps, task)
  // The caller that waited for it is gone, and no other could receive the result.
  if (task.ephemeral === true) return giveUp(deps, task, noCallerWaits, [])
  if (isOwnCall(task)) return advanceOwnCall(deps, task, fence)
  if (task.upstreamId === undefined) return advanceUnsent(deps, task, fence, ageMs)
  // A task past its lifetime is polled once more: it may have ended between polls.
  const isOld = ageMs > taskTimeoutsOf(deps).lifetimeMs
  const checked = await poll(deps, task)
  if (checked === undefined) {
    const steps = stepNow(deps, 'skipped')
    if (isOld) return giveUp(deps, task, tooOld, steps)
    return later(deps, { ...task }, fence, afterFailureMs(5, deps.random), steps)
  }
  const asked: Task = { ...task, checks: task.checks + 1 }
  if (isOld && !(checked.kind === 'report' && isEndOf(checked.report))) {
    return giveUp(deps, asked, tooOld, pollOf(deps, task, checked))
  }
  if (checked.kind !== 'report') {
    const waitMs = afterFailureMs(task.checks, deps.random)
    return later(deps, asked, fence, waitMs, pollOf(deps, task, checked))
  }
  return apply(deps, asked, fence, checked.report)
}

/** Undefined when its channel is gone. */
async function poll(deps: TaskDeps, task: Task): Promise<Checked | undefined> {
  const origin = originOf(deps, task)
  if (origin === undefined) return undefined
  const pollTarget = pollTargetFor(deps, task)
  ensure(pollTarget !== undefined, `provider ${task.protocol} makes a ${task.kind}`)
  const checked = await askUpstream(deps, task, origin, (upstream, stop) =>
    pollTarget.check(task.upstreamId!, upstream, stop),
  )
  crashPoint('task-polled')
  deps.meters?.poll(task.channel, checked.kind === 'report')
  return checked
}

/** Time that has certainly passed: an end by time-out is irreversible. */
const ageOf = ({ clock }: TaskDeps, { createdAtMs }: Task): number => sureNowMs(clock) - createdAtMs

/** The step for a poll that did not end the task. */
function pollOf(deps: TaskDeps, task: Task, checked: Checked): PollStep[] {
  if (checked.kind === 'failed') {
    const { code, message } = publicError(deps, task, checked.error)
    return stepNow(deps, 'poll_failed', `${code}: ${message}`)
  }
  const { report } = checked
  if (report.state === 'missing') return stepNow(deps, 'not_found')
  if (report.state === 'succeeded') return stepNow(deps, 'no_output')
  return stepNow(deps, 'polled', wordOf(deps, report))
}

/** The upstream's own status word, if unknown. */
const wordOf = ({ cleaner }: TaskDeps, report: TaskReport): string | undefined =>
  'unknownStatus' in report && report.unknownStatus !== undefined
    ? cleaner.cleanLine(report.unknownStatus)
    : undefined

const stepNow = (deps: TaskDeps, kind: PollStep['kind'], note?: string): PollStep[] => [
  { kind, atMs: deps.clock.nowMs(), ...(note !== undefined && { note }) },
]

const isEndOf = (report: TaskReport): boolean =>
  report.state === 'failed' ||
  report.state === 'cancelled' ||
  (report.state === 'succeeded' && (report.media.length > 0 || report.answer !== undefined))

/** Its create was cut off: unknown whether it arrived, and it is never sent again. */
async function advanceUnsent(deps: TaskDeps, task: Task, fence: number, ageMs: number) {
  const { unknownMs } = taskTimeoutsOf(deps)
  const search = await findLost(deps, task, fence)
  if (search === 'adopted') return
  const lost: Task = {
    ...task,
    state: 'unknown',
    error: task.error ?? { code: unknownOutcome.code, message: unknownOutcome.message },
    checks: task.checks + (search === 'impossible' ? 0 : 1),
    misses: task.misses + (search === 'none' ? 1 : 0),
  }
  const maxMs = search === 'unheard' && lost.misses === 0 ? unheardFactor * unknownMs : unknownMs
  const steps = [
    ...(task.state === 'accepted' ? stepNow(deps, 'lost', lost.error?.message) : []),
    ...(search === 'none' ? stepNow(deps, 'search') : []),
    ...(search === 'unheard' ? stepNow(deps, 'search_failed') : []),
  ]
  if (ageMs > maxMs) return giveUp(deps, lost, unknownOutcome, steps)
  const leftMs = Math.max(1_000, maxMs - ageMs)
  const againMs = afterFailureMs(task.checks, deps.random)
  const waitMs = search === 'impossible' ? leftMs : Math.min(leftMs, againMs)
  return later(deps, lost, fence, waitMs, steps, task.state)
}

/** What was sent before its gateway died is lost; what was not is sent now. */
async function advanceOwnCall(deps: TaskDeps, task: ResponseTask, fence: number) {
  if (task.state !== 'queued') return giveUp(deps, task, cutOff, [])
  if (ageOf(deps, task) > taskTimeoutsOf(deps).lifetimeMs) return giveUp(deps, task, tooOld, [])
  const isTaken = await deps.jobs.ownResponses.run(task, fence)
  if (!isTaken) return later(deps, task, fence, underWayMs * deps.random(), [])
}

async function apply(deps: TaskDeps, task: Task, fence: number, report: TaskReport) {
  const nowMs = deps.clock.nowMs()
  const ageMs = nowMs - task.createdAtMs
  switch (report.state) {
    case 'succeeded':
      if (report.answer === undefined && !hasFile(task, report.media, sureNowMs(deps.clock))) {
        return doubtResult(deps, task, fence, report.usage)
      }
      learnDuration(
        deps.jobs.poller.durations,
        servingModel(task),
        ageMs,
        task.updatedAtMs - task.createdAtMs,
      )
      await endTask(deps, task, report)
      return
    case 'failed':
      await endTask(deps, task, {
        state: 'failed',
        error: publicError(deps, task, report.error),
        raw: report.raw,
        ...costOfNothing(deps, task, 'failed_after_cost', report.error.usage),
      })
      return
    case 'cancelled':
      await endTask(deps, task, {
        state: 'cancelled',
        ...costOfNothing(deps, task, 'failed_after_cost', report.usage),
      })
      return
    case 'missing':
      return doubtExistence(deps, task, fence)
    default:
      return goOn(deps, task, fence, report)
  }
}

/** Visible states only go forward: a running task does not return to queued. */
async function goOn(
  deps: TaskDeps,
  task: Task,
  fence: number,
  report: Extract<TaskReport, { state: 'queued' | 'running' }>,
) {
  const nowMs = deps.clock.nowMs()
  recordUnknownStatus(deps, task, report.unknownStatus)
  const running = task.state === 'running' || report.state === 'running'
  const { missingSinceMs: _, ...known } = task
  const next: Task = { ...known, state: running ? 'running' : 'queued', misses: 0 }
  if (running) next.startedAtMs = task.startedAtMs ?? nowMs
  next.progress = Math.max(task.progress, Math.min(99, report.progress ?? (running ? 30 : 0)))
  const elapsedMs = nowMs - task.createdAtMs
  const sinceMs = task.updatedAtMs - task.createdAtMs
  const waitMs = nextCheckMs(
    deps.jobs.poller.durations,
    servingModel(task),
    elapsedMs,
    deps.random,
    sinceMs,
  )
  const steps = stepNow(deps, 'polled', wordOf(deps, report))
  return later(deps, next, fence, waitMs, steps, task.state)
}

/** A file with an expired link counts as missing. */
const hasFile = (task: Task, media: readonly OutputMedia[], nowMs: number): boolean =>
  media.some(({ kind, expiresAtMs }) => kind === task.kind && (expiresAtMs ?? nowMs + 1) > nowMs)

/** Reported as done, without a usable result. */
async function doubtResult(deps: TaskDeps, task: Task, fence: number, usage: TaskUsage) {
  const { missingSinceMs: _, ...known } = task
  const misses = task.misses + 1
  if (misses >= maxEmpty) {
    const losses = [lossOfTask(deps, task, 'not_delivered', { usage })]
    const steps = stepNow(deps, 'no_output')
    await endTask(deps, task, { state: 'failed', error: noOutput, losses, steps })
    return
  }
  const waitMs = afterFailureMs(misses, deps.random)
  return later(deps, { ...known, misses }, fence, waitMs, stepNow(deps, 'no_output'))
}

/** Right after its create, or while an upstream migrates, a task may seem to be missing. */
async function doubtExistence(deps: TaskDeps, task: Task, fence: number) {
  const nowMs = deps.clock.nowMs()
  const { missingSinceMs = nowMs } = task
  const misses = task.misses + 1
  const isLost = sureNowMs(deps.clock) - missingSinceMs >= taskTimeoutsOf(deps).lostAfterMs
  const steps = stepNow(deps, 'not_found')
  if (misses >= minMissing && isLost) return giveUp(deps, task, lostUpstream, steps)
  const missing: Task = { ...task, misses, missingSinceMs }
  return later(deps, missing, fence, afterFailureMs(misses, deps.random), steps)
}

/** Unknown words already logged, by engine; each once per channel. */
const unknownStatuses = new WeakMap<TaskDeps['log'], Set<string>>()
const maxUnknownStatuses = 1_000

function recordUnknownStatus(
  { log }: TaskDeps,
  { id, channel }: Task,
  word: string | undefined,
): void {
  if (word === undefined) return
  const logged = unknownStatuses.get(log) ?? new Set()
  unknownStatuses.set(log, logged)
  const one = `${channel}\n${word}`
  if (logged.has(one) || logged.size >= maxUnknownStatuses) return
  logged.add(one)
  const msg = 'unknown task status from an upstream; it counts as running'
  log.warn(msg, { task_id: id, channel, word })
}

async function later(
  deps: TaskDeps,
  task: Task,
  fence: number,
  waitMs: number,
  steps: readonly PollStep[],
  still = task.state,
): Promise<void> {
  const nowMs = deps.clock.nowMs()
  const { state, progress } = task
  const newSteps = steps.map((each) => ({ ...each, state, progress }))
  const next: Task = {
    ...task,
    timeline: withSteps(task, newSteps),
    updatedAtMs: nowMs,
    nextCheckAtMs: Math.round(nowMs + waitMs),
  }
  await deps.jobs.poller.savePoll(next, still, fence)
  deps.jobs.poller.wake(next.nextCheckAtMs)
}

/** It is over here, whatever happens upstream; later checks cover that, where possible. */
async function giveUp(
  deps: TaskDeps,
  task: Task,
  error: UpstreamError,
  steps: readonly PollStep[],
): Promise<void> {
  const rest = canAsk(deps, task)
    ? { abandonedCheck: true as const }
    : { losses: [lossOfTask(deps, task, 'unknown_create')] }
  await endTask(deps, task, { state: 'failed', error, steps, ...rest })
}

const noCallerWaits: UpstreamError = {
  code: 'upstream_outcome_unknown',
  message: 'the gateway stopped while the caller waited for it',
}

const cutOff: UpstreamError = {
  code: 'upstream_outcome_unknown',
  message: 'the gateway stopped while it waited for the answer, which is lost and costs nothing',
}

const tooOld: UpstreamError = {
  code: 'upstream_timeout',
  message: 'the upstream did not finish in time',
}
const unknownOutcome: UpstreamError = {
  code: 'upstream_outcome_unknown',
  message: 'nobody knows whether the upstream accepted it; it was not sent again and costs nothing',
}
const noOutput: UpstreamError = {
  code: 'no_output',
  message: 'the upstream called it done and delivered nothing',
}
const lostUpstream: UpstreamError = {
  code: 'upstream_task_lost',
  message: 'the upstream no longer knows this task',
}
