// Losses of tasks: work that an upstream may have done and that no caller pays for, at the caller's
// price. Refusals and failed connections cost nothing; where the work done is unknown, the amount is
// the minimum and marked as an estimate.

import type { PriceBook } from '../../billing/prices/price-book.ts'
import type { Loss, LossReason } from '../../contract/ledger.ts'
import type { Task, TaskUsage } from '../../contract/task.ts'
import type { ReportedUsage } from '../../contract/usage.ts'
import { recordLoss } from '../../store/ledger/losses.ts'
import type { BaseDeps } from '../base-deps.ts'
import { completeUsage } from '../calls/charged-usage.ts'
import type { Jobs } from '../jobs.ts'
import { sane } from '../tasks/end-task.ts'
import { retryWrite } from '../tasks/retry-write.ts'
import { settlementFor } from '../tasks/task-charge.ts'

interface LossDeps extends BaseDeps {
  readonly prices: PriceBook
  readonly jobs: Pick<Jobs, 'lossAlerts'>
}

interface TaskCost {
  /** As the upstream reported it; the requested amount counts where it did not. */
  usage?: TaskUsage
  /** For a task with another id upstream. */
  upstreamId?: string
}

/** A success that can no longer be delivered, because the task has already ended otherwise. */
export async function addTaskLoss(deps: LossDeps, loss: Loss): Promise<void> {
  await retryWrite(deps, () => deps.store.tx((tx) => recordLoss(tx, loss)))
  deps.jobs.lossAlerts.announce(loss)
}

/** What a task would have cost its caller if it had been delivered in time. */
export function lossOfTask(
  { clock, prices }: Pick<LossDeps, 'clock' | 'prices'>,
  task: Task,
  reason: LossReason,
  { usage = {}, upstreamId = task.upstreamId }: TaskCost = {},
): Loss {
  const { id: ref, accountId, channel, model } = task
  const base = { atMs: clock.nowMs(), accountId, ref, reason, channel, model }
  const named = { ...base, ...(upstreamId !== undefined && { upstreamId }) }
  const price = prices.byId(task.priceId)
  if (price === undefined) return { ...named, amountNanos: task.holdNanos, isEstimate: true }
  const images = task.kind === 'image' ? (usage.images ?? task.request.count) : undefined
  const { tokens, applied } = usage
  const counted = {
    ...sane(usage),
    ...(images !== undefined && { images }),
    ...(tokens !== undefined && { tokens, ...(applied !== undefined && { applied }) }),
  }
  const { chargeNanos, unit, quantity, estimated } = settlementFor(price.terms, task, counted)
  const isGuess = estimated === true || (task.kind === 'image' && usage.images === undefined)
  return {
    ...named,
    ...(unit !== undefined && { unit }),
    ...(quantity !== undefined && { quantity }),
    amountNanos: chargeNanos,
    isEstimate: isGuess,
  }
}

/** Of a response that came to nothing, as far as its upstream tells. */
export function costOfNothing(
  deps: Pick<LossDeps, 'clock' | 'prices'>,
  task: Task,
  reason: LossReason,
  usage: ReportedUsage | undefined,
): { losses?: Loss[] } {
  if (task.kind !== 'response' || usage === undefined) return {}
  const tokens = completeUsage(usage, task.request.inputTokens, () => 0)
  return { losses: [lossOfTask(deps, task, reason, { usage: { tokens } })] }
}
