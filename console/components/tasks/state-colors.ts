// The colors of task states in charts.
import type { State } from '../../lib/resources/task.ts'

export const taskStateColors: Readonly<Record<State, string>> = {
  accepted: 'var(--mantine-color-gray-5)',
  unknown: 'var(--mantine-color-yellow-6)',
  queued: 'var(--mantine-color-gray-6)',
  running: 'var(--mantine-color-blue-6)',
  succeeded: 'var(--mantine-color-teal-6)',
  failed: 'var(--mantine-color-red-6)',
  cancelled: 'var(--mantine-color-dark-3)',
}
