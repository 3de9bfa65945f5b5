// Tasks that were given up are asked for a few times more, because an upstream that finishes one
// bills it. What is found is a loss of the operator's; state and charge of the task never change.

import type { LossReason } from '../../../contract/ledger.ts'
import type { TaskReport } from '../../../contract/provider.ts'
import type { Task } from '../../../contract/task.ts'
import { withStep } from '../../../contract/timeline.ts'
import { Cancellation } from '../../../lib/cancellation.ts'
import { recordLoss } from '../../../store/ledger/losses.ts'
import {
  dropLateLook,
  type LateLook,
  nextLateLookMs,
  putOffLateLook,
  takeLateLooks,
  wakeStrandedLooks,
} from '../../../store/tasks/abandoned-checks.ts'
import { findTaskRow, putTrail } from '../../../store/tasks/tasks.ts'
import { announceLoss } from '../../books/loss-alerts.ts'
import { lossOfTask } from '../../books/losses.ts'
import type { Engine } from '../../engine.ts'
import { searchLost } from '../create/find-lost.ts'
import { homeOf, lookerFor, taskUpstream } from '../task-upstream.ts'
import { lookFactors, waitAfterLook, waitBeforeLook } from './task-timeouts.ts'

/** What another gateway left behind is noticed by looking. */
const idleMs = 60_000
/** Between two rounds, and after one that the store did not let through. */
const gapMs = 250
const mostAtOnce = 16
/** Longer than a look takes: one that was cut off is made up for. */
const againMs = 15 * 60_000
/** Of one create; an upstream that made more has lost its mind. */
const mostIds = 100

export class LateLooks {
  #engine: Engine | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #timerAtMs = Number.POSITIVE_INFINITY
  #round: Promise<unknown> | undefined
  #closed = false

  start(engine: Engine): void {
    this.#engine = engine
    this.wake(engine.clock.nowMs())
  }

  /** Looks at this moment, or earlier if that was planned. */
  wake(atMs: number): void {
    const engine = this.#engine
    if (engine === undefined || this.#closed || atMs >= this.#timerAtMs) return
    clearTimeout(this.#timer)
    this.#timerAtMs = atMs
    const waitMs = Math.min(idleMs, Math.max(gapMs, atMs - engine.clock.nowMs()))
    this.#timer = setTimeout(() => {
      this.#round = this.#look(engine)
    }, waitMs)
    this.#timer.unref()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#round
  }

  async #look(engine: Engine): Promise<void> {
    let nextMs = engine.clock.nowMs() + idleMs
    try {
      if (engine.store.healthy) {
        await lookOnce(engine)
        nextMs = (await nextLateLookMs(engine.store.read)) ?? nextMs
      }
    } catch (error) {
      engine.log.warn('tasks that were given up could not be looked for', { error })
    }
    this.#timerAtMs = Number.POSITIVE_INFINITY
    this.wake(nextMs)
  }
}

/** One round over what is due; how many there were. */
export async function lookOnce(engine: Engine): Promise<number> {
  const { store, clock } = engine
  const nowMs = clock.nowMs()
  const wish = { nowMs, againMs: nowMs + againMs, limit: mostAtOnce }
  const due = await store.tx(async (tx) => {
    await wakeStrandedLooks(tx, nowMs, longestWaitsMs(engine))
    return takeLateLooks(tx, store.engine, wish)
  })
  const looks = due.map((look) =>
    lookAt(engine, look).catch((error: unknown) =>
      engine.log.error('a task that was given up could not be looked for', {
        task_id: look.taskId,
        error,
      }),
    ),
  )
  await Promise.all(looks)
  return due.length
}

/** The longest a look is ever put off, by how many there were. */
const longestWaitsMs = (engine: Engine): number[] =>
  lookFactors.map((_, look) => Math.max(againMs, waitBeforeLook(engine, look)))

async function lookAt(engine: Engine, { taskId, looks }: LateLook): Promise<void> {
  const task = await findTaskRow(engine.store.read, taskId)
  const seen = task === undefined ? [] : await seenOf(engine, task)
  const isOpen = seen === undefined || seen.some(({ report }) => !isOver(report))
  const waitMs = isOpen ? waitAfterLook(engine, looks) : undefined
  const nowMs = engine.clock.nowMs()
  await engine.store.tx(async (tx) => {
    for (const { upstreamId, report } of seen ?? []) {
      if (report.state !== 'succeeded') continue
      const cost = { usage: usageOf(report), upstreamId }
      const loss = lossOfTask(engine, task!, reasonFor(task!), cost)
      if (await recordLoss(tx, loss)) announceLoss(engine, loss)
    }
    if (task !== undefined) await putTrail(tx, taskId, trailAfter(task, seen, nowMs))
    if (waitMs === undefined) await dropLateLook(tx, taskId)
    else await putOffLateLook(tx, taskId, nowMs + waitMs)
  })
}

function trailAfter(task: Task, seen: readonly Seen[] | undefined, atMs: number): string {
  const { state, progress } = task
  const step = { atMs, state, progress } as const
  const heard = new Set(seen?.filter(({ isHeard }) => isHeard).map(({ report }) => report.state))
  if (heard.size === 0) return withStep(task, { ...step, kind: 'late_look_failed' })
  return withStep(task, { ...step, kind: 'late_look', note: [...heard].join(' ') })
}

interface Seen {
  upstreamId: string
  report: TaskReport
  /** Otherwise the question failed, and it counts as running. */
  isHeard: boolean
}

const isOver = ({ state }: TaskReport): boolean =>
  state === 'succeeded' || state === 'failed' || state === 'cancelled'

/** Nothing more to hear of an id means that it is asked for again. Undefined: nothing was heard. */
async function seenOf(engine: Engine, task: Task): Promise<readonly Seen[] | undefined> {
  const ids = await idsOf(engine, task)
  if (ids === undefined || ids.length === 0) return undefined
  const seen: Seen[] = []
  for (const upstreamId of ids.slice(0, mostIds)) {
    const report = await ask(engine, task, upstreamId)
    const isHeard = report !== undefined
    seen.push({ upstreamId, report: report ?? { state: 'running' }, isHeard })
  }
  return seen
}

async function idsOf(engine: Engine, task: Task): Promise<readonly string[] | undefined> {
  if (task.upstreamId !== undefined) return [task.upstreamId]
  const found = await searchLost(engine, task)
  return typeof found === 'string' ? undefined : found.upstreamIds
}

async function ask(
  engine: Engine,
  task: Task,
  upstreamId: string,
): Promise<TaskReport | undefined> {
  const home = homeOf(engine, task)
  const looker = lookerFor(engine, task)
  if (home === undefined || looker === undefined) return undefined
  const stop = new Cancellation()
  const deadline = engine.deadlines.start(home.route.channel.timeouts, stop)
  const upstream = taskUpstream(engine, task, home.route, home.key, deadline)
  const checked = await looker.check(upstreamId, upstream, stop).finally(() => deadline.end())
  return checked.kind === 'report' ? checked.report : undefined
}

/** Pictures are counted by what there is. */
function usageOf({ media, usage }: Extract<TaskReport, { state: 'succeeded' }>) {
  const pictures = media.filter(({ kind }) => kind === 'image').length
  return pictures === 0 ? usage : { ...usage, pictures }
}

function reasonFor({ upstreamId, unseen, state, error }: Task): LossReason {
  if (upstreamId === undefined) return 'unknown_create'
  if (unseen === true && state === 'cancelled') return 'caller_left'
  // The gateway that would have handed it over is gone.
  if (unseen === true && error?.code === 'upstream_outcome_unknown') return 'not_delivered'
  return 'late_success'
}
