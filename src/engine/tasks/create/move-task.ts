// Moves an accepted task of a virtual model to the next member, after the one before has refused it. The
// row names the member before its create is sent: a crash leaves a task that is searched for there, and
// nowhere else.
import type { UpstreamError } from '../../../contract/provider.ts'
import type { Task } from '../../../contract/task.ts'
import { crashPoint } from '../../../lib/crash-point.ts'
import { updateTask } from '../../../store/tasks/tasks.ts'
import type { Engine } from '../../engine.ts'
import { leavePlace } from '../../routing/channel-places.ts'
import { dropProbes, isAboutRequest } from '../../routing/learn.ts'
import { keptRequest } from '../kept-request.ts'
import { retryWrite } from '../retry-write.ts'
import { type Accepted, madeBy } from './hold-task.ts'
import { type PlacedMember, placeNow, type TaskInput, withBound } from './task-members.ts'

/** The input for the next member; undefined when none may or can take it. Changes `accepted`. */
export async function moveTask(
  engine: Engine,
  accepted: Accepted,
  input: TaskInput,
  error: UpstreamError,
): Promise<TaskInput | undefined> {
  const { task, others } = accepted
  if (others.length === 0 || isAboutRequest(error) || engine.load.draining) return undefined
  if (!engine.routing.retries.take()) return undefined
  const placed = placeNow(engine, task.accountId, others)
  if ('picked' in placed) {
    const next = withBound(engine, placed.member, input, placed.picked.route)
    const moved = movedTo(engine, task, next, placed)
    if (
      await retryWrite(engine, () => engine.store.tx((tx) => updateTask(tx, moved, 'accepted')))
    ) {
      const { picked, member } = placed
      Object.assign(accepted, { task: moved, picked, model: member.model, others: placed.others })
      crashPoint('task-moved')
      return next
    }
    leavePlace(engine, placed.picked.route.channel, placed.picked.channelState, task.accountId)
    dropProbes(placed.picked)
  }
  engine.routing.retries.giveBack()
  return undefined
}

const movedTo = (
  engine: Engine,
  { servedModel: _, ...task }: Task,
  { request }: TaskInput,
  { picked, member }: PlacedMember,
): Task =>
  ({
    ...task,
    ...madeBy(engine, picked),
    ...(member.servedModel !== undefined && { servedModel: member.servedModel }),
    priceId: member.price.id,
    request: keptRequest(request),
    updatedAtMs: engine.clock.nowMs(),
  }) as Task
