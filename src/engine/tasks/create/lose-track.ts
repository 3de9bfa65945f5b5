// Records a create with an unknown outcome as a state of its own. It is never sent again; the
// poller searches for it.
import { type Refusal, refuse } from '../../../contract/errors.ts'
import type { UpstreamError } from '../../../contract/provider.ts'
import type { Task } from '../../../contract/task.ts'
import { withStep } from '../../../contract/timeline.ts'
import { updateTask } from '../../../store/tasks/tasks.ts'
import type { TaskDeps } from '../task-deps.ts'

/** The reason, and the upstream's own id where its reply had one. */
export type LostError = Pick<UpstreamError, 'message' | 'upstreamRequestId'>

/** The updated task; undefined when it had moved on meanwhile. */
export async function loseTrackOf(
  deps: TaskDeps,
  { awaitedBy: _, ...task }: Task,
  { message, upstreamRequestId }: LostError,
): Promise<Task | undefined> {
  const nowMs = deps.clock.nowMs()
  const step = { kind: 'lost', atMs: nowMs, state: 'unknown', progress: 0, note: message } as const
  const lost = {
    ...task,
    state: 'unknown',
    error: {
      code: 'upstream_outcome_unknown',
      message,
      ...(upstreamRequestId !== undefined && { upstreamRequestId }),
    },
    timeline: withStep(task as Task, step),
    updatedAtMs: nowMs,
    nextCheckAtMs: nowMs,
  } as Task
  const moved = await deps.store.tx((tx) => updateTask(tx, lost, 'accepted'))
  deps.jobs.poller.wake(nowMs)
  return moved ? lost : undefined
}

export const lostTrack = (
  { id }: Task,
  why: string,
  extras?: Pick<Refusal['extras'], 'replayOf' | 'upstreamRequestId'>,
): Refusal =>
  refuse(
    'upstream_outcome_unknown',
    `the upstream may or may not have accepted ${id}: ${why}`,
    extras,
  )
