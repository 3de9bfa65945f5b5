// How long tasks are waited for: what the operator declared, defaults filled in. Read at every look,
// so that a reload reaches tasks that are under way.
import { type FileDeclaration, parseDurationMs } from '../../../contract/config-schema/index.ts'
import type { Longest } from '../../../store/tasks/leases.ts'
import type { Engine } from '../../engine.ts'
import { longestCheckMs } from './poll-schedule.ts'

/** After these a create, and a caller that waits, have had all the time they can have. */
export const longestWaitedMs = 180_000

export interface Patience {
  /** Longest a task may take. */
  lifetimeMs: number
  /** Longest a create may stay unanswered for. */
  unknownMs: number
  /** Longest its upstream may not know a task. */
  lostAfterMs: number
}

/** When a task that was given up is looked for, counted from its end: 10 min, 1 h, 6 h, 1 d, 3 d. */
export const lookFactors = [1, 6, 36, 144, 432]

/** What lies before the next late look; undefined after the last. */
export function waitAfterLook(engine: Pick<Engine, 'declared'>, looks: number): number | undefined {
  return looks < lookFactors.length ? waitBeforeLook(engine, looks) : undefined
}

export const waitBeforeLook = (engine: Pick<Engine, 'declared'>, look: number): number =>
  patienceOf(engine).lostAfterMs * (lookFactors[look]! - (lookFactors[look - 1] ?? 0))

/** The longest a task is ever put off, and a task that runs. */
export const longestWaits = (engine: Pick<Engine, 'declared'>): Longest => ({
  pollMs: longestCheckMs,
  waitMs: Math.max(patienceOf(engine).unknownMs, longestWaitedMs),
})

const defaults = { lifetime: '24h', unknown_for: '15m', lost_after: '10m' }

export const patienceOf = ({ declared }: Pick<Engine, 'declared'>): Patience =>
  patienceFrom(declared.file.tasks)

function patienceFrom(declared: FileDeclaration['tasks']): Patience {
  const ms = (field: keyof typeof defaults) =>
    parseDurationMs(declared?.[field] ?? defaults[field])!
  return {
    lifetimeMs: ms('lifetime'),
    unknownMs: ms('unknown_for'),
    lostAfterMs: ms('lost_after'),
  }
}
