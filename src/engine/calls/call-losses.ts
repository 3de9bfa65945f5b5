// What a text call has cost the operator and no caller pays, at the caller's price: added to the
// request log row.
import { addLoss } from '../../billing/call-loss.ts'
import { chargeTokens } from '../../billing/charge.ts'
import type { StreamWatcher, UpstreamError } from '../../contract/provider.ts'
import type { RequestRecord } from '../../contract/requests.ts'
import type { TokenUsage } from '../../contract/usage.ts'
import { isId } from './clean-error.ts'
import { completeUsage, isComplete, tokensOf } from './complete-usage.ts'
import type { OpenCall, UpstreamAttempt } from './open-call.ts'

interface Cost {
  nanos: bigint
  quantity: number
}

export const costOf = ({ admission }: OpenCall, usage: TokenUsage): Cost => ({
  nanos: chargeTokens(admission.price.terms, usage),
  quantity: tokensOf(usage),
})

/** An attempt that failed after the upstream had accepted it. Must be recorded before it ends. */
export function addFailedLoss(
  open: OpenCall,
  { route, stop, deadline }: UpstreamAttempt,
  { begun, outputTokens = 0, usage: reportedUsage, upstreamRequestId: id }: UpstreamError,
  watcher: StreamWatcher | undefined,
): void {
  const counted = watcher?.countOutputTokens() ?? outputTokens
  const usage = reportedUsage ?? watcher?.reported.usage
  if (begun !== true && counted === 0 && usage === undefined) return
  const { call, record } = open
  // As reported, and else by count.
  const { nanos, quantity } = costOf(
    open,
    completeUsage(usage, call.inputTokens, () => counted),
  )
  const part = {
    reason: stop.cancelled && !deadline.expired ? 'caller_left' : 'failed_after_cost',
    channel: route.channel.name,
    ...(id !== undefined && isId(id) && { upstreamId: id }),
    unit: 'token',
    quantity,
    ...(!isComplete(usage) && { estimated: true }),
  } as const
  addLoss(record.detail, part, nanos)
}

/** An answer, or a part of one, that the account could not pay, or that its caller need not. */
export function addUnpaid(
  { channel = '', upstreamRequestId, detail }: RequestRecord,
  reason: 'not_delivered' | 'implausible_usage',
  { nanos, quantity }: Cost,
  isEstimate: boolean,
): void {
  const part = {
    reason,
    channel,
    ...(upstreamRequestId !== undefined && { upstreamId: upstreamRequestId }),
    unit: 'token',
    quantity,
    ...(isEstimate && { estimated: true }),
  }
  addLoss(detail, part, nanos)
}
