// Losses: work that an upstream may have done and that no caller pays for, at the caller's price.
// Refusals and failed connections cost nothing; where the work done is unknown, the amount is the
// minimum and marked as an estimate.

import { addLoss } from '../../billing/call-loss.ts'
import { chargeTokens } from '../../billing/charge.ts'
import type { PriceBook } from '../../billing/prices/price-book.ts'
import type { Loss, LossReason } from '../../contract/ledger.ts'
import type { StreamWatcher, UpstreamError } from '../../contract/provider.ts'
import type { Task, TaskUsage } from '../../contract/task.ts'
import { recordLoss } from '../../store/ledger/losses.ts'
import type { BaseDeps } from '../base-deps.ts'
import { isId } from '../calls/clean-error.ts'
import type { OpenCall } from '../calls/open-call.ts'
import { completeUsage, withinBounds } from '../calls/text-bounds.ts'
import type { Jobs } from '../jobs.ts'
import { sane } from '../tasks/end-task.ts'
import { retryWrite } from '../tasks/retry-write.ts'
import { settlementFor } from '../tasks/task-charge.ts'

/** A try that failed after the upstream had accepted it. Must be recorded before the try ends. */
export function addFailedLoss(
  { call, trying, record, admission }: OpenCall,
  failure: UpstreamError,
  watcher?: StreamWatcher,
): void {
  const countedTokens = watcher?.countOutputTokens() ?? failure.outputTokens ?? 0
  if (failure.begun !== true && countedTokens === 0) return
  const said = watcher?.reported.usage
  const complete = completeUsage(said, call.inputTokens, () => countedTokens)
  const usage = withinBounds(
    { ...complete, outputTokens: Math.max(complete.outputTokens, countedTokens) },
    admission.bounds,
  )
  const { upstreamRequestId } = failure
  const hasId = upstreamRequestId !== undefined && isId(upstreamRequestId)
  const part = {
    reason: trying.stop.cancelled && !trying.deadline.expired ? callerLeft : failedAfterCost,
    channel: trying.route.channel.name,
    ...(hasId && { upstreamId: upstreamRequestId }),
    unit: 'token',
    quantity: usage.inputTokens + usage.outputTokens,
    estimated: true,
  }
  addLoss(record.detail, part, chargeTokens(admission.price.terms, usage))
}

const callerLeft: LossReason = 'caller_left'
const failedAfterCost: LossReason = 'failed_after_cost'

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
  const counted = { ...sane(usage), ...(images !== undefined && { images }) }
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
