// Alerts about what upstreams report with their answers: usage that cannot be, and terms that have no price.
// Never fails and waits for nothing: a write that failed is repeated the next time.
import type { RequestRecord } from '../../contract/requests.ts'
import type { TokenUsage } from '../../contract/usage.ts'
import { raiseAlert } from '../../store/catalog/alerts.ts'
import type { Unknown } from '../admission/price-reach.ts'
import type { TextBounds } from '../admission/text-bounds.ts'
import type { OpenCall } from './open-call.ts'

const quietMs = 60_000
/** Subjects that are remembered: channels, and models with a word of an upstream. */
const maxSubjects = 10_000

/** When each was last raised. */
const raisedMs = new WeakMap<object, Map<string, number>>()

interface Raised {
  kind: 'implausible_usage' | 'missing_price'
  subject: string
  message: string
}

function raise({ engine, record }: OpenCall, { kind, subject, message }: Raised): void {
  const known = raisedMs.get(engine) ?? new Map<string, number>()
  raisedMs.set(engine, known)
  const atMs = engine.clock.nowMs()
  const key = `${kind} ${subject}`
  const lastMs = known.get(key)
  if (lastMs !== undefined && Math.abs(atMs - lastMs) < quietMs) return
  if (known.size >= maxSubjects) known.clear()
  known.set(key, atMs)
  const { requestId, channel } = record
  engine.log.warn(kind.replace('_', ' '), { request_id: requestId, channel })
  engine.store
    .tx((tx) => raiseAlert(tx, { kind, subject, message, atMs }))
    .catch((error) => {
      known.delete(key)
      engine.log.warn('an alert about usage could not be written', { error })
    })
}

export function recordImplausible(open: OpenCall, claimed: TokenUsage, paid: TokenUsage): void {
  const { record, bounds } = open
  const message =
    claimed.quantity === undefined
      ? implausibleMessage(record, bounds, claimed, paid)
      : `channel '${record.channel ?? ''}' reported ${claimed.quantity} of ${open.price.terms.unit} for ` +
        `${record.requestId} (model '${record.model}'); charged for ${paid.quantity}, the rest is a loss`
  raise(open, { kind: 'implausible_usage', subject: record.channel ?? '', message })
}

/** Charged by the plain rates, which may be less than it costs. */
export function recordUnpriced(open: OpenCall, unknown: Unknown): void {
  const { price, record } = open
  const served = `channel '${record.channel ?? ''}' served ${record.requestId} (model '${record.model}')`
  const message = unpricedMessage(served, price.model, unknown)
  raise(open, { kind: 'missing_price', subject: `${price.model} ${unknown.name}`, message })
}

export const unpricedMessage = (served: string, pricedAs: string, { kind, name }: Unknown) =>
  `${served} by the ${kind} '${name}', which the price of '${pricedAs}' does not name; ` +
  'charged by its plain rates'

export const implausibleMessage = (
  call: Pick<RequestRecord, 'channel' | 'requestId' | 'model'>,
  { windowTokens, outputTokens }: Pick<TextBounds, 'windowTokens' | 'outputTokens'>,
  claimed: TokenUsage,
  paid: TokenUsage,
): string =>
  `channel '${call.channel ?? ''}' reported ${claimed.inputTokens} input and ${claimed.outputTokens} output ` +
  `tokens for ${call.requestId} (model '${call.model}'), which allows ${windowTokens} and ` +
  `${outputTokens}; charged for ${paid.inputTokens} and ${paid.outputTokens}, the rest is a loss`
