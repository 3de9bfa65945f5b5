// The way of a task as an administrator reads it: every state and every look, those that were alike as
// one. A task from before such notes were kept shows what its times tell.
import { isEnd, type Task } from '../../contract/task.ts'
import { readTimeline, type Step, type StepKind } from '../../contract/timeline.ts'
import { time } from '../answers.ts'
import type { View } from '../route.ts'
import type { task as shownTask } from './task-schema.ts'

/** Stored words that the API says otherwise. */
const shownKinds = {
  look: 'polled',
  look_failed: 'poll_failed',
  missing: 'not_found',
  empty: 'no_output',
  not_asked: 'skipped',
  cancel_asked: 'cancel_requested',
  late_look: 'late_poll',
  late_look_failed: 'late_poll_failed',
  gap: 'truncated',
} as const
type Shown = View<typeof shownTask>['timeline'][number]['kind']

const shownKind = (kind: StepKind): Shown =>
  kind in shownKinds ? shownKinds[kind as keyof typeof shownKinds] : (kind as Shown)

export const timelineView = (task: Task): View<typeof shownTask>['timeline'] =>
  stepsOf(task).map(({ kind, atMs, lastMs, times, state, progress, note }) => ({
    kind: shownKind(kind),
    at: time(atMs),
    last_at: time(lastMs),
    times,
    state,
    progress,
    note: note ?? null,
  }))

function stepsOf(task: Task): Step[] {
  const told = readTimeline(task.timeline ?? '', task.createdAtMs)
  if (told[0]?.kind === 'created') return told
  const created = step('created', task.createdAtMs, { state: 'accepted', progress: 0 })
  return [created, ...(told.length === 0 ? guessed(task) : [...missed(task, told), ...told])]
}

type Rest = Partial<Omit<Step, 'kind' | 'atMs'>> & Pick<Step, 'state' | 'progress'>

const step = (kind: StepKind, atMs: number, rest: Rest): Step => ({
  kind,
  atMs,
  lastMs: atMs,
  times: 1,
  ...rest,
})

/** Of a task that went its whole way without notes. */
function guessed(task: Task): Step[] {
  const { startedAtMs, finishedAtMs, createdAtMs, updatedAtMs, checks, error } = task
  const lastMs = finishedAtMs ?? updatedAtMs
  const live = isEnd(task.state) ? (startedAtMs === undefined ? 'queued' : 'running') : task.state
  const progress = isEnd(task.state) ? 0 : task.progress
  const polls = { lastMs, times: checks, state: live, progress } as const
  return [
    ...(checks > 0 ? [step('look', startedAtMs ?? createdAtMs, polls)] : []),
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
  ...(['look', 'look_failed', 'missing', 'empty', 'search', 'search_failed', 'ended'] as const),
]

/** Of one that was under way when notes began to be kept: the looks before them. */
function missed({ createdAtMs, checks }: Task, told: readonly Step[]): Step[] {
  const known = told
    .filter(({ kind }) => polling.includes(kind))
    .reduce((sum, { times }) => sum + times, 0)
  if (checks <= known) return []
  const { atMs: lastMs, state } = told[0]!
  return [step('gap', createdAtMs, { lastMs, times: checks - known, state, progress: 0 })]
}
