// A task's timeline as an administrator reads it: every state and every poll, equal ones in a row as one.
// A task older than timelines shows what its times say.
import { isEnd, type Task } from '../../contract/task.ts'
import { readTimeline, type Step, type StepKind } from '../../contract/timeline.ts'
import { time } from '../answers.ts'
import type { View } from '../route.ts'
import type { task as shownTask } from './task-schema.ts'

export const timelineView = (task: Task): View<typeof shownTask>['timeline'] =>
  stepsOf(task).map(({ kind, atMs, lastMs, times, state, progress, note }) => ({
    kind,
    at: time(atMs),
    last_at: time(lastMs),
    times,
    state,
    progress,
    note: note ?? null,
  }))

function stepsOf(task: Task): Step[] {
  const steps = readTimeline(task.timeline ?? '', task.createdAtMs)
  if (steps[0]?.kind === 'created') return steps
  const created = step('created', task.createdAtMs, { state: 'accepted', progress: 0 })
  return [created, ...(steps.length === 0 ? guessed(task) : [...missed(task, steps), ...steps])]
}

type Rest = Partial<Omit<Step, 'kind' | 'atMs'>> & Pick<Step, 'state' | 'progress'>

const step = (kind: StepKind, atMs: number, rest: Rest): Step => ({
  kind,
  atMs,
  lastMs: atMs,
  times: 1,
  ...rest,
})

/** For a task that ended before timelines were stored. */
function guessed(task: Task): Step[] {
  const { startedAtMs, finishedAtMs, createdAtMs, updatedAtMs, checks, error } = task
  const lastMs = finishedAtMs ?? updatedAtMs
  const live = isEnd(task.state) ? (startedAtMs === undefined ? 'queued' : 'running') : task.state
  const progress = isEnd(task.state) ? 0 : task.progress
  const polls = { lastMs, times: checks, state: live, progress } as const
  return [
    ...(checks > 0 ? [step('polled', startedAtMs ?? createdAtMs, polls)] : []),
    ...(finishedAtMs === undefined
      ? []
      : [
          step('ended', finishedAtMs, {
            state: task.state,
            progress: task.progress,
            ...(error !== undefined && { note: `${error.code}: ${error.message}` }),
          }),
        ]),
  ]
}

const polling: readonly StepKind[] = [
  ...([
    'polled',
    'poll_failed',
    'not_found',
    'no_output',
    'search',
    'search_failed',
    'ended',
  ] as const),
]

/** The polls before timelines were stored, of a task that was running then. */
function missed({ createdAtMs, checks }: Task, steps: readonly Step[]): Step[] {
  const known = steps
    .filter(({ kind }) => polling.includes(kind))
    .reduce((sum, { times }) => sum + times, 0)
  if (checks <= known) return []
  const { atMs: lastMs, state } = steps[0]!
  return [step('truncated', createdAtMs, { lastMs, times: checks - known, state, progress: 0 })]
}
