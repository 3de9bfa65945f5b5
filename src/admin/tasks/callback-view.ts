// The callback of a task as an administrator sees it: its attempts and their outcomes.
import type { Task } from '../../contract/task.ts'
import type { BaseDeps } from '../../engine/base-deps.ts'
import type { Attempt } from '../../store/deliveries/queue.ts'
import { findCallbackStory } from '../../store/tasks/callbacks.ts'
import { time } from '../answers.ts'
import type { View } from '../route.ts'
import type { task as shownTask } from './task-schema.ts'

/** The newest ones: a schedule has ten, and every resend starts another. */
const maxShown = 100

/** Null for a task without a callback address. */
export async function callbackView(
  { store }: BaseDeps,
  task: Task,
): Promise<View<typeof shownTask>['callback']> {
  if (task.callbackUrl === undefined) return null
  const found = await findCallbackStory(store.read, task.id, maxShown)
  if (found === undefined) {
    return { id: null, url: task.callbackUrl, state: null, next_at: null, attempts: [] }
  }
  const { callback, attempts } = found
  const { id, url, state, nextAtMs } = callback
  return {
    id,
    url,
    state,
    next_at: state === 'waiting' ? time(nextAtMs) : null,
    attempts: attempts.map(attemptView),
  }
}

const attemptView = ({ atMs, tookMs, status, error }: Attempt) => ({
  at: time(atMs),
  took_ms: tookMs,
  status: status ?? null,
  error: error ?? null,
})
