// Which job of a run starts when: some lanes always have one, one takes jobs that mostly wait, and further
// ones take a job only while the machine has time to spare. Jobs that failed run once more, alone.
import { cpus } from 'node:os'
import type { Job, Outcome } from './jobs.ts'

export interface Lanes {
  /** Lanes that always have a job. */
  busy: number
  /** Lanes that have one while the machine is idle. */
  spare: number
  isIdle(): boolean
  pollMs: number
  isOver(): boolean
  run(job: Job): Promise<Outcome>
}

export async function runLanes(jobs: readonly Job[], lanes: Lanes): Promise<Outcome[]> {
  const { run, isOver, isIdle, pollMs } = lanes
  const outcomes: Outcome[] = []
  const busy = jobs.filter(({ isWaiting }) => !isWaiting)
  const waiting = jobs.filter(({ isWaiting }) => isWaiting)
  const lane = async (next: () => Job | undefined) => {
    for (let job = next(); job !== undefined && !isOver(); job = next()) {
      outcomes.push(await run(job))
    }
  }
  const spareLane = async () => {
    while (busy.length + waiting.length > 0 && !isOver()) {
      await Bun.sleep(pollMs)
      const job = isIdle() ? (waiting.shift() ?? busy.shift()) : undefined
      if (job !== undefined) outcomes.push(await run(job))
    }
  }
  await Promise.all([
    ...Array.from({ length: lanes.busy }, () => lane(() => busy.shift() ?? waiting.shift())),
    lane(() => waiting.shift()),
    ...Array.from({ length: lanes.spare }, spareLane),
  ])
  return outcomes
}

const idleWindowMs = 2_000
/** Of one core. */
const idleShare = 0.5

/** Tells whether half a core was idle lately; after a yes it looks at a new stretch of time. */
export function watchIdle(): () => boolean {
  const idleMs = () => cpus().reduce((sum, { times }) => sum + times.idle, 0)
  let from = { atMs: performance.now(), idleMs: idleMs() }
  return () => {
    const now = { atMs: performance.now(), idleMs: idleMs() }
    const tookMs = now.atMs - from.atMs
    if (tookMs < idleWindowMs) return false
    const share = (now.idleMs - from.idleMs) / tookMs
    from = now
    return share > idleShare
  }
}

/** More than these are no accident. */
const maxAgain = 10

const hasFailed = ({ code, leftBehind }: Outcome): boolean => code !== 0 || leftBehind.length > 0

interface SecondChance {
  /** What counts: of a job that ran twice, the second outcome. */
  outcomes: readonly Outcome[]
  /** First outcomes of jobs that passed the second time. */
  unsteady: readonly Outcome[]
}

/** Runs jobs that failed once more, one at a time, when nothing else runs. */
export async function runAgain(
  outcomes: readonly Outcome[],
  { run, isOver }: Pick<Lanes, 'run' | 'isOver'>,
): Promise<SecondChance> {
  const failed = outcomes.filter(hasFailed)
  if (failed.length > maxAgain) return { outcomes, unsteady: [] }
  const second = new Map<Outcome, Outcome>()
  for (const outcome of failed) {
    if (isOver()) break
    const { name, files } = outcome
    second.set(outcome, await run({ name, files }))
  }
  return {
    outcomes: outcomes.map((first) => second.get(first) ?? first),
    unsteady: failed.filter((first) => {
      const again = second.get(first)
      return again !== undefined && !hasFailed(again)
    }),
  }
}
