// How long tasks are waited for: what the operator declared, defaults filled in. Read at every look,
// so that a reload reaches tasks that are under way.
import { type FileDeclaration, parseDurationMs } from '../../contract/declarations.ts'
import type { Engine } from '../engine.ts'

export interface Patience {
  /** Longest a task may take. */
  lifetimeMs: number
  /** Longest a create may stay unanswered for. */
  unknownMs: number
  /** Longest its upstream may not know a task. */
  lostAfterMs: number
}

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
