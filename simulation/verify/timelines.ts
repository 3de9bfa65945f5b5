// Verifies the timeline of every ended task: it begins with the create, has only allowed moves, and ends once, as
// the task did. Every poll is in it.
import { mayMove, type TaskState } from '../../src/contract/task.ts'
import { readTimeline, type Step, type StepKind } from '../../src/contract/timeline.ts'
import type { Calling } from '../callers/calling.ts'

interface Row {
  id: string
  state: TaskState
  interface: string
  checks: number
  timeline: string | null
}

const polling: readonly StepKind[] = [
  ...([
    'polled',
    'poll_failed',
    'not_found',
    'no_output',
    'search',
    'search_failed',
    'found',
  ] as const),
]

export function verifyTimelines({ context: { db, world } }: Calling): void {
  const { rows } = db.query<Row>('SELECT id, state, interface, checks, timeline FROM tasks')
  for (const row of rows) {
    const steps = readTimeline(row.timeline ?? '', 0)
    const wrong = wrongWith(row, steps)
    if (wrong !== undefined)
      world.addViolation(`the timeline of task ${row.id} ${wrong}: ${row.timeline}`)
  }
}

function wrongWith(
  { state, checks, interface: use }: Row,
  steps: readonly Step[],
): string | undefined {
  if (steps[0]?.kind !== 'created') return 'does not begin with its create'
  const ends = steps.filter(({ kind }) => kind === 'ended')
  if (ends.length !== 1 || ends[0]!.state !== state) return `does not end once as ${state}`
  const after = steps.slice(steps.indexOf(ends[0]!) + 1)
  if (after.some(({ kind }) => !kind.startsWith('late_poll'))) return 'goes on after its end'
  for (const [i, step] of steps.entries()) {
    const before = steps[i - 1]?.state ?? step.state
    if (before !== step.state && !mayMove(before, step.state)) {
      return `goes from ${before} to ${step.state}`
    }
  }
  // The poll that found the end has no step of its own, and two gateways may poll at once.
  const polls = steps
    .filter(({ kind }) => polling.includes(kind))
    .reduce((sum, { times }) => sum + times, 0)
  // Polls for a waiting caller of images are not counted, nor do tries of a response have steps.
  const isUncounted =
    use === 'images' || use === 'responses' || steps.some(({ kind }) => kind === 'truncated')
  return isUncounted || Math.abs(polls - checks) <= 1
    ? undefined
    : `has ${polls} looks of ${checks}`
}
