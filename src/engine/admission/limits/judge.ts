// Decides whether a token with these counts may begin one more call, and words the refusal. The
// script that Redis runs (shared-scripts.ts) has the same rules.
import type { TokenLimits } from '../../../contract/catalog.ts'
import { type Refusal, refuse } from '../../../contract/errors.ts'
import type { RateView } from '../../../contract/rate.ts'
import type { TokenUsageState } from './token-counts.ts'
import { gauge, waitMs } from './window.ts'

/** Longer waits are capped at this: clients do not honour longer ones. */
const maxRetrySeconds = 60
/** The end of a running call is unknown. */
const busyRetryMs = 1000

/** The share of a limit for one of several gateways: rounded up, at least 1. */
export const shareOf = (limit: number, gateways: number): number =>
  Math.max(1, Math.ceil(limit / gateways))

/** A refusal, or undefined when one more call of this cost fits. */
export function judge(
  channelState: TokenUsageState,
  limits: TokenLimits,
  gateways: number,
  cost: number,
): Refusal | undefined {
  const { rpm, tpm, concurrency } = limits
  const { requests, tokens, leftMs, running } = channelState
  const requestsMs = rpm === undefined ? 0 : waitMs(requests, 1, shareOf(rpm, gateways), leftMs)
  const tokensMs = tpm === undefined ? 0 : waitMs(tokens, cost, shareOf(tpm, gateways), leftMs)
  const busy = concurrency !== undefined && running >= shareOf(concurrency, gateways)
  if (requestsMs === 0 && tokensMs === 0 && !busy) return undefined
  const waitedMs = Math.max(requestsMs, tokensMs, busyRetryMs)
  return refuse('rate_limit_exceeded', words(limits, requestsMs, tokensMs, cost), {
    retryAfterSeconds: Math.min(maxRetrySeconds, Math.ceil(waitedMs / 1000)),
    ...rateOf(channelState, limits, gateways),
  })
}

/** Names the limit that blocks the longest. */
function words(limits: TokenLimits, requestsMs: number, tokensMs: number, cost: number): string {
  const { rpm, tpm, concurrency } = limits
  if (requestsMs === 0 && tokensMs === 0) {
    return `this token may have ${counted(concurrency, 'call')} running at once`
  }
  if (requestsMs >= tokensMs) return `this token may send ${counted(rpm, 'request')} per minute`
  const ownNeed = cost > (tpm ?? 0) ? `; this call alone may need ${cost}` : ''
  return `this token may use ${counted(tpm, 'token')} per minute${ownNeed}`
}

const counted = (count: number | undefined, noun: string) =>
  `${count} ${noun}${count === 1 ? '' : 's'}`

/** The caller's rate limit state; undefined without per-minute limits. */
export function viewOf(
  { requests, tokens, leftMs }: TokenUsageState,
  { rpm, tpm }: TokenLimits,
  gateways: number,
): RateView | undefined {
  if (rpm === undefined && tpm === undefined) return undefined
  const shown = (limit: number, tally: TokenUsageState['requests']) =>
    gauge(tally, limit, shareOf(limit, gateways), leftMs)
  return {
    ...(rpm !== undefined && { requests: shown(rpm, requests) }),
    ...(tpm !== undefined && { tokens: shown(tpm, tokens) }),
  }
}

function rateOf(
  channelState: TokenUsageState,
  limits: TokenLimits,
  gateways: number,
): { rate?: RateView } {
  const rate = viewOf(channelState, limits, gateways)
  return rate === undefined ? {} : { rate }
}
