// A task as the admin API shows it.
import type { ListedTask, Task as TaskAnswer } from '../../../src/admin/tasks/task-schema.ts'
import type { Role } from '../session.ts'

export type { CallbackAttempt, Step } from '../../../src/admin/tasks/task-schema.ts'

/** A list leaves out the callback and the steps. */
export type Task = ListedTask &
  Partial<Pick<TaskAnswer, 'callback' | 'timeline'>> & {
    /** Null: none was asked for. */
    callback_state?: 'waiting' | 'delivered' | 'exhausted' | null
    interface: 'videos' | 'arkvendor' | 'vendorg' | 'images' | 'imgvendor' | 'responses'
  }

export const states = [
  'accepted',
  'unknown',
  'queued',
  'running',
  'succeeded',
  'failed',
  'cancelled',
] as const
export type State = (typeof states)[number]

/** Who may cancel, repeat and resend; others look on. */
export const actors: readonly Role[] = ['operator', 'member']

export const isLive = ({ finished_at }: Task): boolean => finished_at === null

/** Its callback is under way: an attempt is made or will be made soon. */
export const isBeingTold = ({ callback }: Task): boolean => callback?.state === 'waiting'

export const elapsedMs = ({ created_at, finished_at }: Task, nowMs: number): number =>
  (finished_at === null ? nowMs : Date.parse(finished_at)) - Date.parse(created_at)

/** Files that can still be opened. */
export const openFiles = ({ files }: Task, nowMs: number) =>
  files.filter(({ expires_at }) => Date.parse(expires_at) > nowMs)
