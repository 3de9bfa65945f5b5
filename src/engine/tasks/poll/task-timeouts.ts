// Task time-outs: what the operator declared, with defaults. Read at every poll, so that a reload
// applies to running tasks.
import { type FileDeclaration, parseDurationMs } from '../../../contract/config-schema/index.ts'
import type { MaxWaits } from '../../../store/tasks/leases.ts'
import type { Declares } from '../../base-deps.ts'
import { maxCheckMs } from './poll-schedule.ts'

/** Maximum time for a create, and for a caller that waits. */
export const maxWaitedMs = 180_000

interface TaskTimeouts {
  /** Maximum time of a task. */
  lifetimeMs: number
  /** Maximum time of a create without a known outcome. */
  unknownMs: number
  /** Maximum time that its upstream may not know a task. */
  lostAfterMs: number
}

/** When an abandoned task is checked, counted from its end: 10 min, 1 h, 6 h, 1 d, 3 d. */
export const pollFactors = [1, 6, 36, 144, 432]

/** The wait before the next check of an abandoned task; undefined after the last. */
export function waitAfterPoll(deps: Declares, polls: number): number | undefined {
  return polls < pollFactors.length ? waitBeforePoll(deps, polls) : undefined
}

export const waitBeforePoll = (deps: Declares, poll: number): number =>
  taskTimeoutsOf(deps).lostAfterMs * (pollFactors[poll]! - (pollFactors[poll - 1] ?? 0))

/** The maximum delay of any task, and of a running one. */
export const maxWaits = (deps: Declares): MaxWaits => ({
  pollMs: maxCheckMs,
  waitMs: Math.max(taskTimeoutsOf(deps).unknownMs, maxWaitedMs),
})

const defaults = { lifetime: '24h', unknown_for: '15m', lost_after: '10m' }

export const taskTimeoutsOf = ({ declared }: Declares): TaskTimeouts =>
  taskTimeoutsFrom(declared.file.tasks)

function taskTimeoutsFrom(declared: FileDeclaration['tasks']): TaskTimeouts {
  const ms = (field: keyof typeof defaults) =>
    parseDurationMs(declared?.[field] ?? defaults[field])!
  return {
    lifetimeMs: ms('lifetime'),
    unknownMs: ms('unknown_for'),
    lostAfterMs: ms('lost_after'),
  }
}
