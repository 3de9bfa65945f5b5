// The usage that a text call is charged for: as the upstream reported it, with missing sides counted, and
// without what neither the request nor the answer explains. The rest is a loss on its request log row.
import { addLoss } from '../../billing/call-loss.ts'
import { chargeTokens } from '../../billing/charge.ts'
import type { Route } from '../../catalog/snapshot.ts'
import type { StreamWatcher, UpstreamError } from '../../contract/provider.ts'
import type { RequestRecord } from '../../contract/requests.ts'
import type { ReportedUsage, TokenUsage } from '../../contract/usage.ts'
import { raiseAlert } from '../../store/catalog/alerts.ts'
import type { TextBounds } from '../admission/text-bounds.ts'
import { isId } from './clean-error.ts'
import type { OpenCall } from './open-call.ts'

/** Usage with missing sides filled in. */
export function completeUsage(
  reported: ReportedUsage | undefined,
  inputTokens: number,
  outputTokens: () => number,
): TokenUsage {
  if (reported === undefined) {
    return { inputTokens, outputTokens: outputTokens(), cacheReadTokens: 0, cacheWriteTokens: 0 }
  }
  const { cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens, toolCalls } = reported
  const usage: TokenUsage = {
    inputTokens: reported.inputTokens ?? Math.max(inputTokens, cacheReadTokens + cacheWriteTokens),
    outputTokens: reported.outputTokens ?? outputTokens(),
    cacheReadTokens,
    cacheWriteTokens,
  }
  if (cacheWrite1hTokens !== undefined) usage.cacheWrite1hTokens = cacheWrite1hTokens
  if (toolCalls !== undefined) usage.toolCalls = toolCalls
  return usage
}

export const isComplete = (usage: ReportedUsage | undefined): boolean =>
  usage?.inputTokens !== undefined && usage.outputTokens !== undefined

type Bounds = Pick<TextBounds, 'windowTokens' | 'outputTokens'>

/**
 * The part of the usage that its caller pays; the same object when that is all. Output above the bound is
 * paid as far as it was reported as reasoning or delivered as text, by the gateway's own count.
 */
export function payable(
  usage: TokenUsage,
  bounds: Bounds,
  reported: ReportedUsage | undefined,
  countOutputTokens: () => number,
): TokenUsage {
  const { windowTokens, outputTokens: maxOutput } = bounds
  const isOver = usage.outputTokens > maxOutput
  if (usage.inputTokens <= windowTokens && !isOver) return usage
  const given = isOver ? (reported?.reasoningTokens ?? 0) + countOutputTokens() : 0
  const outputTokens = Math.min(usage.outputTokens, Math.max(maxOutput, given))
  if (usage.inputTokens <= windowTokens && outputTokens === usage.outputTokens) return usage
  const inputTokens = Math.min(usage.inputTokens, windowTokens)
  const cacheReadTokens = Math.min(usage.cacheReadTokens, inputTokens)
  const cacheWriteTokens = Math.min(usage.cacheWriteTokens, inputTokens - cacheReadTokens)
  return {
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    ...(usage.cacheWrite1hTokens !== undefined && {
      cacheWrite1hTokens: Math.min(usage.cacheWrite1hTokens, cacheWriteTokens),
    }),
    ...(usage.toolCalls !== undefined && { toolCalls: usage.toolCalls }),
  }
}

export const tokensOf = ({ inputTokens, outputTokens }: TokenUsage): number =>
  inputTokens + outputTokens

interface Cost {
  nanos: bigint
  quantity: number
}

export const costOf = ({ price }: OpenCall, usage: TokenUsage): Cost => ({
  nanos: chargeTokens(price.terms, usage),
  quantity: tokensOf(usage),
})

interface EndedAttempt {
  readonly route: Route
  readonly cancelled: boolean
  readonly deadline: { readonly expired: boolean }
}

/** An attempt that failed after the upstream had accepted it. Must be recorded before it ends. */
export function addFailedLoss(
  open: OpenCall,
  { route, cancelled, deadline }: EndedAttempt,
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
    reason: cancelled && !deadline.expired ? 'caller_left' : 'failed_after_cost',
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

const kind = 'implausible_usage'
const quietMs = 60_000

/** Last alert per channel. Bounded by the number of channels. */
const alertedMs = new WeakMap<object, Map<string, number>>()

/** Never fails: a failed write is repeated the next time. */
export function recordImplausible(
  { engine, record, bounds }: OpenCall,
  claimed: TokenUsage,
  paid: TokenUsage,
): void {
  const subject = record.channel ?? ''
  const known = alertedMs.get(engine) ?? new Map<string, number>()
  alertedMs.set(engine, known)
  const atMs = engine.clock.nowMs()
  const lastMs = known.get(subject)
  if (lastMs !== undefined && Math.abs(atMs - lastMs) < quietMs) return
  known.set(subject, atMs)
  const message = implausibleMessage(record, bounds, claimed, paid)
  engine.log.warn('implausible usage', { request_id: record.requestId, channel: subject })
  engine.store
    .tx((tx) => raiseAlert(tx, { kind, subject, message, atMs }))
    .catch((error) => {
      known.delete(subject)
      engine.log.warn('an alert about usage could not be written', { error })
    })
}

export const implausibleMessage = (
  call: Pick<RequestRecord, 'channel' | 'requestId' | 'model'>,
  { windowTokens, outputTokens }: Pick<TextBounds, 'windowTokens' | 'outputTokens'>,
  claimed: TokenUsage,
  paid: TokenUsage,
): string =>
  `channel '${call.channel ?? ''}' reported ${claimed.inputTokens} input and ${claimed.outputTokens} output ` +
  `tokens for ${call.requestId} (model '${call.model}'), which allows ${windowTokens} and ` +
  `${outputTokens}; charged for ${paid.inputTokens} and ${paid.outputTokens}, the rest is a loss`
