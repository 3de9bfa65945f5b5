// Polls a task for the caller that waits for it. A task that does not end in time, or that no
// caller waits for any more, is cancelled where the upstream supports it.
import type { TaskReport, TaskUpstream, UpstreamError } from '../../../contract/provider.ts'
import type { ImageTask } from '../../../contract/task.ts'
import type { Cancellation } from '../../../lib/cancellation.ts'
import { sureNowMs } from '../../../lib/clock.ts'
import { ensure } from '../../../lib/ensure.ts'
import type { PollStep, TaskEnd } from '../../tasks/end-task.ts'
import type { TaskDeps } from '../../tasks/task-deps.ts'
import { askUpstream, originOf, pollTargetFor, publicError } from '../../tasks/task-upstream.ts'

interface Waiting {
  /** Maximum wait. */
  forMs: number
  /** Aborted when no caller waits any more. */
  signal?: AbortSignal
}

/** A task that was not cancelled upstream may still succeed. */
export type WaitedEnd = Extract<TaskReport, { state: 'succeeded' | 'failed' | 'cancelled' }> &
  Pick<TaskEnd, 'abandonedCheck' | 'steps'>

const minMs = 500
const latestMs = 3_000
const growth = 1.3

export async function waitForEnd(
  deps: TaskDeps,
  task: ImageTask,
  waiting: Waiting,
): Promise<WaitedEnd> {
  let pauseMs = minMs
  // Nothing is written while the caller waits: the end records all polls at once.
  const steps: PollStep[] = []
  const passed = stopwatch(deps)
  while (passed() < waiting.forMs && waiting.signal?.aborted !== true) {
    await pause(pauseMs, waiting.signal)
    pauseMs = Math.min(latestMs, pauseMs * growth)
    const report = await poll(deps, task)
    if (report?.state === 'succeeded' || report?.state === 'cancelled') return { ...report, steps }
    if (report?.state === 'failed') {
      return { ...report, error: publicError(deps, task, report.error), steps }
    }
    recordPoll(steps, report === undefined ? 'poll_failed' : 'polled', deps.clock.nowMs())
  }
  const isOff = await callOff(deps, task)
  const rest = isOff ? { steps } : { abandonedCheck: true as const, steps }
  if (waiting.signal?.aborted === true) return { state: 'cancelled', ...rest }
  return { state: 'failed', error: tooLate, raw: undefined, ...rest }
}

/** A change of the wall clock must neither shorten nor extend it. */
function stopwatch({ clock }: TaskDeps): () => number {
  const [fromMs, fromSureMs] = [performance.now(), sureNowMs(clock)]
  return () => Math.max(performance.now() - fromMs, sureNowMs(clock) - fromSureMs)
}

const tooLate: UpstreamError = {
  code: 'upstream_timeout',
  message: 'the upstream did not finish in time; nothing is charged',
}

function recordPoll(steps: PollStep[], kind: PollStep['kind'], nowMs: number): void {
  const last = steps.at(-1)
  if (last?.kind !== kind) steps.push({ kind, atMs: nowMs, times: 1, lastMs: nowMs })
  else Object.assign(last, { times: (last.times ?? 1) + 1, lastMs: nowMs })
}

async function poll(deps: TaskDeps, task: ImageTask): Promise<TaskReport | undefined> {
  const checked = await ask(deps, task, async (pollTarget, upstreamId, upstream, stop) =>
    pollTarget.check(upstreamId, upstream, stop),
  )
  return checked?.kind === 'report' ? checked.report : undefined
}

/** Whatever the outcome, the task is over here. True: upstream, too. */
async function callOff(deps: TaskDeps, task: ImageTask): Promise<boolean> {
  try {
    const answer = await ask(deps, task, async (pollTarget, upstreamId, upstream, stop) =>
      pollTarget.cancel?.(upstreamId, upstream, stop),
    )
    return answer?.kind === 'cancelled'
  } catch (error) {
    deps.log.info('upstream cancel failed', { task_id: task.id, error })
    return false
  }
}

type PollTarget = NonNullable<ReturnType<typeof pollTargetFor>>

/** Undefined when its channel is gone. */
async function ask<T>(
  deps: TaskDeps,
  task: ImageTask,
  question: (
    pollTarget: PollTarget,
    ...asked: [upstreamId: string, upstream: TaskUpstream, stop: Cancellation]
  ) => Promise<T>,
): Promise<T | undefined> {
  const origin = originOf(deps, task)
  const pollTarget = pollTargetFor(deps, task)
  const { upstreamId } = task
  ensure(upstreamId !== undefined && pollTarget !== undefined, `task ${task.id} can be asked for`)
  if (origin === undefined) return undefined
  return askUpstream(deps, task, origin, (upstream, stop) =>
    question(pollTarget, upstreamId, upstream, stop),
  )
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((go) => {
    const timer = setTimeout(done, ms)
    function done(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      go()
    }
    signal?.addEventListener('abort', done)
  })
}
