// Cancels a task: the upstream decides about work it has begun. A task that is over is hidden
// instead.
import type { Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { isEnd, isOwnCall, type Task, type VideoTask } from '../../contract/task.ts'
import type { ReportedUsage } from '../../contract/usage.ts'
import { crashPoint } from '../../lib/crash-point.ts'
import { findTaskRow, updateTask } from '../../store/tasks/tasks.ts'
import { costOfNothing } from '../books/losses.ts'
import { forgetMedia } from '../results/trim-media.ts'
import { endTask } from './end-task.ts'
import { findOwnRow } from './read-task.ts'
import type { TaskDeps } from './task-deps.ts'
import { askUpstream, originOf, pollTargetFor } from './task-upstream.ts'

export async function cancelVideo(
  deps: TaskDeps,
  token: Token,
  id: string,
): Promise<VideoTask | Refusal> {
  const task = await findOwnRow(deps, token, id)
  if (task?.kind !== 'video') return notFound(id)
  return (await cancelTask(deps, task, { byCaller: true })) as VideoTask | Refusal
}

export async function cancelTask(
  deps: TaskDeps,
  task: Task,
  { byCaller = false } = {},
): Promise<Task | Refusal> {
  if (task.state === 'cancelled') return task
  if (isEnd(task.state)) return notCancellable(`it has ${task.state} already`)
  const atMs = deps.clock.nowMs()
  const asked: Asked = isOwnCall(task) ? {} : await cancelUpstream(deps, task)
  if (asked instanceof Refusal) return asked
  crashPoint('task-cancelling')
  const steps = [
    { kind: 'cancel_requested', atMs, note: byCaller ? 'caller' : 'operator' },
  ] as const
  const losses = costOfNothing(deps, task, 'caller_left', asked.usage)
  const ended = await endTask(deps, task, { state: 'cancelled', byCaller, steps, ...losses })
  if (isOwnCall(task)) deps.jobs.ownResponses.stop(task.id)
  if (ended !== undefined) return ended
  // Another writer was faster; its result stands.
  const now = await findTaskRow(deps.store.read, task.id)
  return now === undefined || now.state !== 'cancelled'
    ? notCancellable('it has ended meanwhile')
    : now
}

type Asked = Refusal | { usage?: ReportedUsage }

/** What it had used by then, when the upstream has cancelled it. */
async function cancelUpstream(deps: TaskDeps, task: Task): Promise<Asked> {
  const { upstreamId } = task
  if (upstreamId === undefined) {
    // A task that may not exist upstream can neither be cancelled there nor be reported as
    // cancelled.
    return notCancellable(
      task.state === 'accepted'
        ? 'it is just being handed to its upstream; ask again in a moment'
        : 'nobody knows yet whether its upstream has it; if it is not found, it ends free of charge',
    )
  }
  const origin = originOf(deps, task)
  if (origin === undefined) return notCancellable('its channel is gone')
  const cancel = pollTargetFor(deps, task)?.cancel
  if (cancel === undefined) return notCancellable('its upstream cannot cancel')
  const answer = await askUpstream(deps, task, origin, (upstream, stop) =>
    cancel(upstreamId, upstream, stop),
  )
  if (answer.kind === 'cancelled') {
    return answer.usage === undefined ? {} : { usage: answer.usage }
  }
  if (answer.kind === 'refused') return notCancellable('its upstream has begun it')
  return refuse('upstream_error', 'the upstream did not say whether it cancelled the task')
}

/** Hides a task that is over from its caller; the ledger keeps it. */
export async function hideTask(deps: TaskDeps, token: Token, id: string): Promise<Task | Refusal> {
  const task = await findOwnRow(deps, token, id)
  if (task === undefined) return notFound(id)
  if (!isEnd(task.state)) return notCancellable('it is not over yet')
  // A check of the abandoned task may be writing its timeline now, so this does not write it.
  const { timeline: _, ...rest } = task
  const hidden: Task = { ...rest, hidden: true, updatedAtMs: deps.clock.nowMs() }
  await deps.store.tx((tx) => updateTask(tx, hidden, task.state))
  await forgetMedia(deps, hidden)
  return hidden
}

const notFound = (id: string): Refusal =>
  refuse('task_not_found', `there is no task '${id.slice(0, 64)}'`)

const notCancellable = (why: string): Refusal =>
  refuse('task_not_cancellable', `the task cannot be cancelled: ${why}`)
