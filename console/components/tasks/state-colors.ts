// The colors of task states in charts.
import type { State } from '../../lib/resources/task.ts'

export const taskStateColors: Readonly<Record<State, string>> = {
  accepted: 'var(--c-rest)',
  unknown: 'var(--warn-mark)',
  queued: 'var(--c2)',
  running: 'var(--c5)',
  succeeded: 'var(--c1)',
  failed: 'var(--bad-mark)',
  cancelled: 'var(--c4)',
}
