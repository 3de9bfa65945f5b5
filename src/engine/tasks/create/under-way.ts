// Whether the gateway that sends a create, or waits for its images, is still working on it. While
// it is, it owns the task, and others must not treat it as cut off.
import type { Task } from '../../../contract/task.ts'
import { sureNowMs } from '../../../lib/clock.ts'
import { gatewayOf } from '../../../store/index.ts'
import type { Engine } from '../../engine.ts'
import { maxWaitedMs, taskTimeoutsOf } from '../poll/task-timeouts.ts'

/** False when its gateway is gone, has released it, or takes too long. */
export async function isUnderWay(engine: Engine, task: Task): Promise<boolean> {
  const { awaitedBy, createdAtMs } = task
  if (awaitedBy === undefined) return false
  const { unknownMs } = taskTimeoutsOf(engine)
  const maxMs = task.kind === 'image' ? Math.max(unknownMs, maxWaitedMs) : unknownMs
  if (sureNowMs(engine.clock) - createdAtMs > maxMs) return false
  if (awaitedBy === gatewayOf(engine.store)) return engine.creating.has(task.id)
  return (await engine.store.cluster?.lives(awaitedBy)) ?? false
}
