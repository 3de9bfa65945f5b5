// Usage above what a request allows: logged, and raised as an alert about the channel. The alert is
// written in the background, at most once a minute for a channel.
import type { TokenUsage } from '../../contract/usage.ts'
import { raiseAlert } from '../../store/catalog/alerts.ts'
import type { OpenCall } from './open-call.ts'

const kind = 'implausible_usage'
const quietMs = 60_000

/** Last alert per channel. Bounded by the number of channels. */
const alertedMs = new WeakMap<object, Map<string, number>>()

/** Never fails: a failed write is repeated the next time. */
export function recordImplausible(
  { engine, record, admission }: OpenCall,
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
  const message = implausibleMessage(record, admission.bounds, claimed, paid)
  engine.log.warn('implausible usage', { request_id: record.requestId, channel: subject })
  engine.store
    .tx((tx) => raiseAlert(tx, { kind, subject, message, atMs }))
    .catch((error) => {
      known.delete(subject)
      engine.log.warn('an alert about usage could not be written', { error })
    })
}

export const implausibleMessage = (
  call: Pick<OpenCall['record'], 'channel' | 'requestId' | 'model'>,
  {
    windowTokens,
    outputTokens,
  }: Pick<OpenCall['admission']['bounds'], 'windowTokens' | 'outputTokens'>,
  claimed: TokenUsage,
  paid: TokenUsage,
): string =>
  `channel '${call.channel ?? ''}' reported ${claimed.inputTokens} input and ${claimed.outputTokens} output ` +
  `tokens for ${call.requestId} (model '${call.model}'), which allows ${windowTokens} and ` +
  `${outputTokens}; charged for ${paid.inputTokens} and ${paid.outputTokens}, the rest is a loss`
