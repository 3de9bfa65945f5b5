// Polls abandoned tasks a few more times, because an upstream that finishes one bills it. A late
// success is recorded as the operator's loss, with what the upstream takes for it; state and charge of the task never
// change.

import { bookFreeWork } from '../../../billing/end-hold.ts'
import type { Loss, LossReason } from '../../../contract/ledger.ts'
import type { TaskReport } from '../../../contract/provider.ts'
import type { Task, TaskUsage } from '../../../contract/task.ts'
import { withStep } from '../../../contract/timeline.ts'
import { Cancellation } from '../../../lib/cancellation.ts'
import { LoopService } from '../../../lib/loop.ts'
import type { Tx } from '../../../store/index.ts'
import { recordLoss } from '../../../store/ledger/losses.ts'
import {
  type AbandonedCheck,
  dropAbandonedCheck,
  nextAbandonedCheckMs,
  putOffAbandonedCheck,
  takeAbandonedChecks,
  wakeStrandedPolls,
} from '../../../store/tasks/abandoned-checks.ts'
import { addTaskCost, findTaskRow, putTimeline } from '../../../store/tasks/tasks.ts'
import { lossOfTask } from '../../books/losses.ts'
import { completeUsage } from '../../calls/charged-usage.ts'
import type { Engine } from '../../engine.ts'
import { costFor } from '../task-charge.ts'
import { originOf, pollTargetFor, taskUpstream } from '../task-upstream.ts'
import { searchLost } from './find-lost.ts'
import { pollFactors, waitAfterPoll, waitBeforePoll } from './task-timeouts.ts'

/** Tasks that another gateway left are found by polling. */
const idleMs = 60_000
/** Between two rounds, and after one that failed in the store. */
const gapMs = 250
const maxAtOnce = 16
/** Longer than a check takes: one that was cut off is repeated. */
const againMs = 15 * 60_000
/** Per create; no sane upstream makes more. */
const maxIds = 100

export class AbandonedChecks extends LoopService {
  readonly #engine: Engine

  constructor(engine: Engine) {
    const failure = 'checks of abandoned tasks failed'
    const { log } = engine
    super({ name: 'abandoned-checks', everyMs: idleMs, minGapMs: gapMs, log, failure })
    this.#engine = engine
  }

  /** Runs a round at this moment, or earlier if that was planned. */
  override wake(atMs = 0): void {
    super.wake(atMs - this.#engine.clock.nowMs())
  }

  protected override async run(): Promise<number | undefined> {
    const { store, clock } = this.#engine
    if (!store.healthy) return undefined
    await pollOnce(this.#engine)
    const nextMs = await nextAbandonedCheckMs(store.read)
    return nextMs === undefined ? undefined : nextMs - clock.nowMs()
  }
}

/** One round over what is due; returns how many there were. */
export async function pollOnce(engine: Engine): Promise<number> {
  const { store, clock } = engine
  const nowMs = clock.nowMs()
  const input = { nowMs, againMs: nowMs + againMs, limit: maxAtOnce }
  const due = await store.tx(async (tx) => {
    await wakeStrandedPolls(tx, nowMs, maxWaitsMs(engine))
    return takeAbandonedChecks(tx, store.dialect, input)
  })
  const polls = due.map((poll) =>
    pollAt(engine, poll).catch((error: unknown) =>
      engine.log.error('check of an abandoned task failed', {
        task_id: poll.taskId,
        error,
      }),
    ),
  )
  await Promise.all(polls)
  return due.length
}

/** The maximum delay of a check, by number of checks. */
const maxWaitsMs = (engine: Engine): number[] =>
  pollFactors.map((_, poll) => Math.max(againMs, waitBeforePoll(engine, poll)))

async function pollAt(engine: Engine, { taskId, polls }: AbandonedCheck): Promise<void> {
  const task = await findTaskRow(engine.store.read, taskId)
  const steps = task === undefined ? [] : await findSteps(engine, task)
  const isOpen = steps === undefined || steps.some(({ report }) => !isOver(report))
  const waitMs = isOpen ? waitAfterPoll(engine, polls) : undefined
  const nowMs = engine.clock.nowMs()
  await engine.store.tx(async (tx) => {
    for (const { upstreamId, report } of steps ?? []) {
      if (report.state !== 'succeeded') continue
      const cost = { usage: usageOf(report), upstreamId }
      const loss = lossOfTask(engine, task!, reasonFor(task!), cost)
      if (!(await recordLoss(tx, loss))) continue
      engine.jobs.lossAlerts.announce(loss)
      await bookCost(tx, engine, task!, loss, cost.usage)
    }
    if (task !== undefined) await putTimeline(tx, taskId, timelineAfter(task, steps, nowMs))
    if (waitMs === undefined) await dropAbandonedCheck(tx, taskId)
    else await putOffAbandonedCheck(tx, taskId, nowMs + waitMs)
  })
}

/** Once, with its loss: it has no charge, and the upstream takes it all the same. */
async function bookCost(
  tx: Tx,
  { costs, prices }: Engine,
  task: Task,
  { atMs, unit }: Loss,
  usage: TaskUsage | undefined,
): Promise<void> {
  const { id, accountId, model, channel, tokenId, priceId, tags } = task
  const pricedAs = prices.byId(priceId)?.model ?? model
  const costNanos = costFor(costs, task, usage ?? {}, pricedAs)
  await addTaskCost(tx, id, costNanos)
  if (costNanos === undefined || costNanos === 0n) return
  const work = { accountId, atMs, ref: id, model, unit, channel, tokenId, priceId, tags, costNanos }
  await bookFreeWork(tx, work)
}

function timelineAfter(task: Task, steps: readonly FoundStep[] | undefined, atMs: number): string {
  const { state, progress } = task
  const step = { atMs, state, progress } as const
  const reply = new Set(steps?.filter(({ isReply }) => isReply).map(({ report }) => report.state))
  if (reply.size === 0) return withStep(task, { ...step, kind: 'late_poll_failed' })
  return withStep(task, { ...step, kind: 'late_poll', note: [...reply].join(' ') })
}

interface FoundStep {
  upstreamId: string
  report: TaskReport
  /** Otherwise the poll failed, and it counts as running. */
  isReply: boolean
}

const isOver = ({ state }: TaskReport): boolean =>
  state === 'succeeded' || state === 'failed' || state === 'cancelled'

/** An id without a final report is polled again. Undefined: no reply. */
async function findSteps(engine: Engine, task: Task): Promise<readonly FoundStep[] | undefined> {
  const ids = await idsOf(engine, task)
  if (ids === undefined || ids.length === 0) return undefined
  const steps: FoundStep[] = []
  for (const upstreamId of ids.slice(0, maxIds)) {
    const report = await ask(engine, task, upstreamId)
    const isReply = report !== undefined
    steps.push({ upstreamId, report: report ?? { state: 'running' }, isReply })
  }
  return steps
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
  const home = originOf(engine, task)
  const pollTarget = pollTargetFor(engine, task)
  if (home === undefined || pollTarget === undefined) return undefined
  const stop = new Cancellation()
  const deadline = engine.deadlines.start(home.route.channel.timeouts, stop)
  const upstream = taskUpstream(engine, task, home.route, home.key, deadline)
  const checked = await pollTarget.check(upstreamId, upstream, stop).finally(() => deadline.end())
  return checked.kind === 'report' ? checked.report : undefined
}

/** Images are counted by the result. */
function usageOf({ media, usage, answer }: Extract<TaskReport, { state: 'succeeded' }>) {
  if (answer !== undefined) {
    const { reported, outputTokens } = answer
    return { tokens: completeUsage(reported.usage, 0, () => outputTokens) }
  }
  const images = media.filter(({ kind }) => kind === 'image').length
  return images === 0 ? usage : { ...usage, images }
}

function reasonFor({ upstreamId, ephemeral, state, error }: Task): LossReason {
  if (upstreamId === undefined) return 'unknown_create'
  if (ephemeral === true && state === 'cancelled') return 'caller_left'
  // The gateway that would have delivered it is gone.
  if (ephemeral === true && error?.code === 'upstream_outcome_unknown') return 'not_delivered'
  return 'late_success'
}
