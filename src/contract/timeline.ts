// A task's timeline as one short, bounded text in its row, written together with each change. Equal
// polls in a row are one step. Knows no task but its times; no I/O.
//
//   0 0 1 created accepted 0
//   310 0 1 sent queued 0
//   1400 18020 7 polled running 40
//   20110 0 1 ended succeeded 100
//
// A line is a step: ms after the create, ms until its last repetition, count, kind, state,
// progress, and an optional note.
import { formerStepKinds } from './former-names.ts'
import type { TaskState } from './task.ts'

const stepKinds = [
  'created',
  /** The upstream has accepted it. */
  'sent',
  /** Unknown whether the upstream has accepted it. */
  'lost',
  /** A lost create was found upstream. */
  'found',
  'polled',
  'poll_failed',
  /** The upstream did not know it. */
  'not_found',
  /** The upstream reported success without a usable result. */
  'no_output',
  /** Its channel is gone, so it could not be polled. */
  'skipped',
  /** Searched for at the upstream without a match; or the request failed. */
  'search',
  'search_failed',
  'cancel_requested',
  'ended',
  /** After it was abandoned. */
  'late_poll',
  'late_poll_failed',
  /** Steps dropped for lack of space. */
  'truncated',
] as const
export type StepKind = (typeof stepKinds)[number]

export interface Step {
  kind: StepKind
  atMs: number
  /** The last time of merged steps. */
  lastMs: number
  times: number
  /** The task's state afterwards. */
  state: TaskState
  progress: number
  /** Cleaned; for a failure it begins with the code and a colon. */
  note?: string
}

export type NewStep = Pick<Step, 'kind' | 'atMs' | 'state' | 'progress'> &
  Partial<Pick<Step, 'note' | 'times' | 'lastMs'>>

const maxSteps = 100
const firstKept = 20
const maxRecord = 120
/** The shortest possible step: a text below this has room for more. */
const min = maxSteps * 20

const once: readonly StepKind[] = ['created', 'sent', 'lost', 'found', 'cancel_requested', 'ended']

interface Timed {
  timeline?: string
  createdAtMs: number
}

/** The timeline with one more step. */
export function withStep({ timeline = '', createdAtMs }: Timed, step: NewStep): string {
  const at = Math.round(step.atMs - createdAtMs)
  const span = Math.max(0, Math.round((step.lastMs ?? step.atMs) - step.atMs))
  const note = step.note === undefined ? '' : tidy(step.note)
  const next: Line = { ...step, at, span, times: step.times ?? 1, note }
  const lastAt = timeline.lastIndexOf('\n', timeline.length - 2) + 1
  const last = once.includes(step.kind) ? undefined : readLine(timeline.slice(lastAt, -1))
  if (last === undefined || !isAlike(last, next)) return bounded(timeline + written(next))
  const merged = {
    ...next,
    at: last.at,
    span: Math.max(last.span, at + span - last.at),
    times: last.times + next.times,
  }
  return timeline.slice(0, lastAt) + written(merged)
}

export const withSteps = (task: Timed, steps: readonly NewStep[]): string =>
  steps.reduce((timeline, step) => withStep({ ...task, timeline }, step), task.timeline ?? '')

/** Lines in an unknown format, such as a later version's, are skipped. */
export function readTimeline(timeline: string, createdAtMs: number): Step[] {
  const lines = timeline.split('\n').map(readLine)
  return lines
    .filter((line) => line !== undefined)
    .map(({ at, span, note, ...rest }) => ({
      ...rest,
      atMs: createdAtMs + at,
      lastMs: createdAtMs + at + span,
      ...(note !== '' && { note }),
    }))
}

interface Line extends Pick<Step, 'kind' | 'times' | 'state' | 'progress'> {
  at: number
  span: number
  note: string
}

const lineShape = /^(-?\d+) (\d+) (\d+) (\w+) (\w+) (\d+)(?: (.*))?$/

const kinds = new Map<string, StepKind>([
  ...Object.entries(formerStepKinds),
  ...stepKinds.map((kind) => [kind, kind] as const),
])

function readLine(text: string): Line | undefined {
  const [, at, span, times, word = '', state, progress, note = ''] = lineShape.exec(text) ?? []
  const kind = kinds.get(word)
  if (kind === undefined) return undefined
  return {
    at: Number(at),
    span: Number(span),
    times: Number(times),
    kind,
    state: state as TaskState,
    progress: Number(progress),
    note,
  }
}

const written = ({ at, span, times, kind, state, progress, note }: Line): string =>
  `${at} ${span} ${times} ${kind} ${state} ${Math.trunc(progress)}${note && ` ${note}`}\n`

/** Failures of one code are equal, whatever their text: many texts contain an id or a time. */
const isAlike = (a: Line, b: Line): boolean =>
  a.kind === b.kind &&
  a.state === b.state &&
  a.progress === b.progress &&
  codeOf(a.note) === codeOf(b.note)

const codeOf = (note: string): string => {
  const colon = note.indexOf(': ')
  return colon === -1 ? note : note.slice(0, colon)
}

/** One line that every database takes. */
const tidy = (note: string): string =>
  note
    .slice(0, maxRecord)
    .toWellFormed()
    .replace(/[\s\u0000-\u001f\u007f]+/g, ' ')
    .trim()

/** Keeps the beginning and the end; one step stands for what lies between. */
function bounded(timeline: string): string {
  if (timeline.length <= min) return timeline
  const lines = timeline.split('\n').slice(0, -1)
  if (lines.length <= maxSteps) return timeline
  const gone = lines.slice(firstKept, lines.length - (maxSteps - firstKept - 1))
  const read = gone.map(readLine).filter((line) => line !== undefined)
  const [first, last] = [read[0], read.at(-1)]
  if (first === undefined || last === undefined) return timeline
  const times = read.reduce((sum, each) => sum + each.times, 0)
  const span = Math.max(0, last.at + last.span - first.at)
  const gap = written({ ...last, kind: 'truncated', at: first.at, span, times, note: '' })
  const kept = (some: readonly string[]) => some.map((line) => `${line}\n`).join('')
  return kept(lines.slice(0, firstKept)) + gap + kept(lines.slice(firstKept + gone.length))
}
