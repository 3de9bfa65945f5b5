// What a text call has cost the operator and no caller pays, at the caller's price: added to the
// request log row.
import { addLoss } from '../../billing/call-loss.ts'
import { chargeTokens } from '../../billing/charge.ts'
import type { StreamWatcher, UpstreamError } from '../../contract/provider.ts'
import type { RequestRecord } from '../../contract/requests.ts'
import type { TokenUsage } from '../../contract/usage.ts'
import { isId } from './clean-error.ts'
import { completeUsage, tokensOf, withinBounds } from './complete-usage.ts'
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
  { begun, outputTokens = 0, upstreamRequestId: id }: UpstreamError,
  watcher: StreamWatcher | undefined,
): void {
  const counted = watcher?.countOutputTokens() ?? outputTokens
  if (begun !== true && counted === 0) return
  const { call, record, admission } = open
  const claimed = completeUsage(watcher?.reported.usage, call.inputTokens, () => counted)
  const atLeast = { ...claimed, outputTokens: Math.max(claimed.outputTokens, counted) }
  const { nanos, quantity } = costOf(open, withinBounds(atLeast, admission.bounds))
  const part = {
    reason: stop.cancelled && !deadline.expired ? 'caller_left' : 'failed_after_cost',
    channel: route.channel.name,
    ...(id !== undefined && isId(id) && { upstreamId: id }),
    unit: 'token',
    quantity,
    estimated: true,
  } as const
  addLoss(record.detail, part, nanos)
}

/** An answer, or a part of one, that the account could not pay. */
export function addNotDelivered(
  { channel = '', upstreamRequestId, detail }: RequestRecord,
  { nanos, quantity }: Cost,
  isEstimate: boolean,
): void {
  const part = {
    reason: 'not_delivered' as const,
    channel,
    ...(upstreamRequestId !== undefined && { upstreamId: upstreamRequestId }),
    unit: 'token',
    quantity,
    ...(isEstimate && { estimated: true }),
  }
  addLoss(detail, part, nanos)
}
