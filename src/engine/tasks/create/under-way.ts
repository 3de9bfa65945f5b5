// Whether the gateway that sends a create, or waits for its images, is still working on it. While
// it is, it owns the task, and others must not treat it as cut off.
import { isOwnCall, type Task } from '../../../contract/task.ts'
import { sureNowMs } from '../../../lib/clock.ts'
import { gatewayOf } from '../../../store/index.ts'
import type { BaseDeps, Declares } from '../../base-deps.ts'
import { maxWaitedMs, taskTimeoutsOf } from '../poll/task-timeouts.ts'

interface UnderWayDeps extends BaseDeps, Declares {
  /** Creates that this gateway is working on. */
  readonly creating: ReadonlySet<string>
}

/** False when its gateway is gone, has released it, or takes too long. */
export async function isUnderWay(deps: UnderWayDeps, task: Task): Promise<boolean> {
  const { awaitedBy, createdAtMs } = task
  if (awaitedBy === undefined) return false
  const maxMs = maxOf(deps, task)
  if (sureNowMs(deps.clock) - createdAtMs > maxMs) return false
  if (awaitedBy === gatewayOf(deps.store)) return deps.creating.has(task.id)
  return (await deps.store.cluster?.lives(awaitedBy)) ?? false
}

function maxOf(deps: Declares, task: Task): number {
  const { unknownMs, lifetimeMs } = taskTimeoutsOf(deps)
  if (isOwnCall(task)) return lifetimeMs
  return task.kind === 'image' ? Math.max(unknownMs, maxWaitedMs) : unknownMs
}
