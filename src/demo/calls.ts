// One call of a customer: drawn, charged by the ledger and written as its row.
import { chargeQuantity, chargeTokens } from '../billing/charge.ts'
import { costQuantity, costTokens } from '../billing/cost.ts'
import type { Interface } from '../contract/catalog.ts'
import { type RefusalCode, refuse } from '../contract/errors.ts'
import type { Price } from '../contract/price.ts'
import type { Attempt, RequestRecord } from '../contract/requests.ts'
import { tagText } from '../contract/tags/index.ts'
import type { TokenUsage } from '../contract/usage.ts'
import type { Customer } from './company.ts'
import { type DemoModel, demoModel } from './offer.ts'
import type { World } from './world.ts'

/** Who calls, and when. */
export interface Caller {
  customer: Customer
  accountId: string
  tokenId: string
  team: string | undefined
  use: Customer['uses'][number]
}

/** Some hours in which a channel does not answer. */
export interface Incident {
  channel: string
  fromMs: number
  untilMs: number
}

export const requestIdOf = ({ clock, random }: World): string =>
  `req_${clock.ms.toString(16).padStart(12, '0')}${random.hex(20)}`

export const tagsOf = ({ team }: Caller): string | undefined =>
  team === undefined ? undefined : tagText([['team', team]])

/** Of 1,000 calls. */
const failing: readonly { code: RefusalCode; message: string; weight: number }[] = [
  { code: 'upstream_rate_limited', message: 'the upstream limits its rate', weight: 5 },
  { code: 'upstream_error', message: 'the upstream failed', weight: 3 },
  {
    code: 'invalid_request',
    message: 'max_tokens: must be a whole number of 1 or more',
    weight: 4,
  },
  { code: 'context_length_exceeded', message: 'the input is too long for this model', weight: 2 },
  { code: 'upstream_timeout', message: 'the upstream did not answer in time', weight: 1 },
]
const failuresIn1000 = failing.reduce((sum, { weight }) => sum + weight, 0)
/** Refused by the gateway before anything is sent. */
const unsent: readonly RefusalCode[] = ['invalid_request', 'insufficient_quota']

/** Resolves when it is durable. The request's id, if it was charged. */
export function makeCall(
  world: World,
  caller: Caller,
  incident: Incident,
): { requestId: string; written: Promise<unknown> } {
  const { engine, random } = world
  const record = newRecord(world, caller)
  const model = demoModel(caller.use.model)
  const failure = random.next() * 1_000 < failuresIn1000 ? random.weighted(failing) : undefined
  const price = engine.prices.current(model.name, caller.accountId)!
  record.priceId = price.id
  const usage = usageOf(world, caller, model)
  const firstMs = Math.round((model.kind === 'text' ? 420 : 160) * random.spread())
  const channel = attemptAll(world, record, model, incident, firstMs)
  if (failure !== undefined || channel === undefined) {
    const why = channel === undefined ? noneLeft : failure!
    return { requestId: '', written: fail(world, record, why) }
  }
  const amountNanos = chargeOf(price, usage)
  const hold = engine.ledger.hold(caller.accountId, amountNanos)
  if (hold === undefined) return { requestId: '', written: fail(world, record, noMoney) }
  const lastMs = record.detail.attempts.at(-1)!
  lastMs.ms = firstMs + Math.round(usage.outputTokens * (2 + 3 * random.next()))
  complete(world, record, usage, firstMs)
  record.costNanos = costOf(world, model, channel, usage) ?? null
  const labels = {
    model: model.name,
    unit: price.terms.unit,
    quantity: usage.quantity ?? usage.inputTokens + usage.outputTokens,
    priceId: price.id,
  }
  const written = engine.ledger.settle(hold, amountNanos, record, labels)
  return { requestId: record.requestId, written }
}

const noneLeft = {
  code: 'upstream_unreachable' as const,
  message: 'no connection to the upstream could be made',
}
const noMoney = {
  code: 'insufficient_quota' as const,
  message: "the account's available balance is too low for this call",
}

function newRecord(world: World, caller: Caller): RequestRecord {
  const { accountId, tokenId, use } = caller
  const model = demoModel(use.model)
  const tags = tagsOf(caller)
  return {
    requestId: requestIdOf(world),
    atMs: world.clock.ms,
    accountId,
    tokenId,
    interface: world.random.pick(model.interfaces) as Interface,
    model: model.name,
    status: 200,
    chargeNanos: 0n,
    totalMs: 0,
    ...(tags !== undefined && { tags }),
    detail: {
      stream: model.kind === 'text' && world.random.next() < 0.7,
      ending: 'complete',
      attempts: [],
    },
  }
}

/** The channel that answers; those before it do not. */
function attemptAll(
  world: World,
  record: RequestRecord,
  model: DemoModel,
  incident: Incident,
  ms: number,
): string | undefined {
  const { attempts } = record.detail
  let afterMs = 2
  for (const channel of model.channels) {
    if (channel !== incident.channel || !isDuring(incident, record.atMs)) {
      attempts.push({ channel, afterMs, ms, status: 200 })
      record.channel = channel
      record.upstreamRequestId = `sbx-${world.random.hex(12)}`
      record.detail.upstreamModel = model.upstream ?? model.name
      return channel
    }
    const failed: Attempt = { channel, afterMs, ms: 1_004, error: 'upstream_unreachable' }
    attempts.push(failed)
    record.channel = channel
    afterMs += 1_010
  }
  return undefined
}

const isDuring = ({ fromMs, untilMs }: Incident, ms: number): boolean =>
  ms >= fromMs && ms < untilMs

function usageOf({ random }: World, { use, customer }: Caller, model: DemoModel): TokenUsage {
  const none = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
  switch (model.kind) {
    case 'rerank':
      return { ...none, quantity: 1 }
    case 'speech':
      return { ...none, quantity: Math.round(900 * random.spread()) }
    case 'transcription':
      return { ...none, quantity: Math.round(2_400 * random.spread()) / 10 }
    case 'moderation':
      return { ...none, quantity: 1 }
  }
  const [input, output] = use.size ?? [1_000, 200]
  const inputTokens = Math.round(input * random.spread())
  const hasCache = customer.cached !== undefined && random.next() < 0.8
  return {
    inputTokens,
    outputTokens: Math.round(output * random.spread()),
    cacheReadTokens: hasCache ? Math.round(inputTokens * customer.cached! * random.next()) : 0,
    cacheWriteTokens: 0,
  }
}

const chargeOf = ({ terms }: Price, usage: TokenUsage): bigint =>
  terms.unit === 'token' ? chargeTokens(terms, usage) : chargeQuantity(terms, usage.quantity ?? 0)!

function costOf({ engine, clock }: World, { name }: DemoModel, channel: string, usage: TokenUsage) {
  const cost = engine.costs.find({ name, pricedAs: name }, channel, clock.ms)
  if (cost === undefined) return undefined
  return cost.terms.unit === 'token' ? costTokens(cost, usage) : costQuantity(cost, usage, clock.ms)
}

/** An answer with this usage. */
function complete(
  { random }: World,
  record: RequestRecord,
  usage: TokenUsage,
  firstMs: number,
): void {
  const { detail } = record
  const { afterMs, ms } = detail.attempts.at(-1)!
  record.usage = usage
  record.firstByteMs = afterMs + firstMs
  record.totalMs = afterMs + ms
  if (usage.outputTokens === 0) return
  detail.finishReason = random.next() < 0.9 ? 'stop' : 'tool_calls'
  detail.reported = {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
  }
}

/** Nothing is charged. */
function fail(
  { engine }: World,
  record: RequestRecord,
  { code, message }: { code: RefusalCode; message: string },
): Promise<unknown> {
  const { status } = refuse(code, message)
  const { detail } = record
  record.status = status
  record.errorCode = code
  detail.error = message
  detail.ending = unsent.includes(code) ? 'refused' : 'failed'
  const last = detail.attempts.at(-1)
  if (unsent.includes(code)) {
    detail.attempts = []
    delete record.channel
    delete record.upstreamRequestId
    record.totalMs = 3
  } else if (last !== undefined) {
    if (code !== 'upstream_unreachable') last.status = status
    last.error = code
    record.totalMs = last.afterMs + last.ms
  }
  return engine.store.record(record)
}
