// Whether the gateway that sends a create, or waits for its pictures, is still at it. As long as it
// is, the task is its own: others must not take it for one that was cut off.
import type { Task } from '../../../contract/task.ts'
import { sureNowMs } from '../../../lib/clock.ts'
import { gatewayOf } from '../../../store/index.ts'
import type { Engine } from '../../engine.ts'
import { maxWaitedMs, taskTimeoutsOf } from '../poll/task-timeouts.ts'

/** False when nobody says so any more: the gateway is gone, or has let go of it, or takes too long. */
export async function isUnderWay(engine: Engine, task: Task): Promise<boolean> {
  const { waitedBy, createdAtMs } = task
  if (waitedBy === undefined) return false
  const { unknownMs } = taskTimeoutsOf(engine)
  const maxMs = task.kind === 'image' ? Math.max(unknownMs, maxWaitedMs) : unknownMs
  if (sureNowMs(engine.clock) - createdAtMs > maxMs) return false
  if (waitedBy === gatewayOf(engine.store)) return engine.creating.has(task.id)
  return (await engine.store.cluster?.lives(waitedBy)) ?? false
}
