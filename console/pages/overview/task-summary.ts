// The tasks of the last hours by state, as the admin API counts them.
import type { TaskSlot } from '../../../src/admin/tasks/task-schema.ts'
import type { State } from '../../lib/resources/task.ts'
import { useResource } from '../../lib/use-resource.ts'
import { type Range, spans } from './traffic.ts'

const refetchMs = 10_000

export function useTaskSummary(range: Range) {
  const hours = spans[range].taskHours
  return useResource<{ slots: TaskSlot[] }>('/tasks/summary', {
    query: { hours },
    isEarly: true,
    refetchInterval: refetchMs,
  })
}

/** What is on its way, and what waits for its turn. */
export const runningStates = ['running'] as const satisfies State[]
export const waitingStates = ['accepted', 'queued', 'unknown'] as const satisfies State[]

export const countOf = (slots: readonly TaskSlot[], states: readonly State[]): number =>
  slots.reduce(
    (sum, { counts }) => states.reduce((all, state) => all + (counts[state] ?? 0), sum),
    0,
  )

export const madeIn = ({ counts }: TaskSlot): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0)

/** The second half is the period, the first half the one before. */
export function splitSlots(slots: readonly TaskSlot[]) {
  const half = slots.length / 2
  return { now: slots.slice(half), before: slots.slice(0, half) }
}
