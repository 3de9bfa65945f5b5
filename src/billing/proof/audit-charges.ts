// Whether a charge is valid by itself: it belongs to a succeeded request or to a task, agrees with
// it, and its amount is price times quantity. Reads nothing by itself.
import { readRequestDetail } from '../../contract/former-names.ts'
import type { Price, PriceTerms } from '../../contract/price.ts'
import { hoursAt } from '../../contract/price-hours.ts'
import type { RequestDetail } from '../../contract/requests.ts'
import type { Task } from '../../contract/task.ts'
import {
  noTokens,
  partsWithin,
  type TokenCounts,
  type TokenParts,
  type TokenUsage,
} from '../../contract/usage.ts'
import { isObject, parseJson } from '../../lib/json/parse.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import type { ChargeRow } from '../../store/proof/audit-chain.ts'
import {
  chargeImages,
  chargeQuantity,
  chargeSeconds,
  chargeTokens,
  chargeVideoTokens,
  type TermsOf,
} from '../charge.ts'
import { factsOf, partNames, tierLabel } from '../charge-label.ts'
import type { CheckName } from './audit-findings.ts'

/** More than any body has. */
const maxBodyDepth = 128

export interface ChargeDeps {
  priceOf: (id: string) => Price | undefined
  /** The part of the cost of a request or task that its account could not cover. */
  lossOf: (ref: string) => Promise<bigint>
  /** Request rows before this time may be gone. */
  logHorizonMs: number
}

interface WrongCharge {
  check: CheckName
  problem: string
}

export async function problemOfCharge(
  row: ChargeRow,
  deps: ChargeDeps,
): Promise<WrongCharge | undefined> {
  const problem = matchProblem(row, deps)
  if (problem !== undefined) return problem
  const amount = await amountProblem(row, deps)
  return amount === undefined ? undefined : { check: 'amounts', problem: amount }
}

const isCall = ({ ref }: ChargeRow): boolean => ref.startsWith('req_')

function matchProblem(row: ChargeRow, { logHorizonMs }: ChargeDeps): WrongCharge | undefined {
  if (!isCall(row)) {
    const problem = 'the charge is for neither a request nor a task'
    return row.task_id === '' ? { check: 'charges_and_tasks', problem } : undefined
  }
  const problem = rowProblem(row, logHorizonMs)
  return problem === undefined ? undefined : { check: 'charges_and_requests', problem }
}

function rowProblem(row: ChargeRow, logHorizonMs: number): string | undefined {
  if (row.request_id === '') {
    return timeOf(row.ref) < logHorizonMs ? undefined : 'the charge has no request row'
  }
  if (isFree(row)) return undefined
  if (row.row_charge_nanos !== -row.amount_nanos) {
    const [entry, log] = [-row.amount_nanos, row.row_charge_nanos].map(formatNanos)
    return `${entry} are charged, its request row says ${log}`
  }
  if (row.same !== 1) return 'charge and request row do not agree'
  const succeeded = row.error_code === '' && (row.status === 200 || row.status === 499)
  return succeeded ? undefined : `a request that ended with ${row.status} is charged`
}

/** A call that failed at its very end: the zero entry prevents any other charge. */
const isFree = (row: ChargeRow): boolean =>
  row.amount_nanos === 0n && row.row_charge_nanos === 0n && row.error_code !== ''

/** Request ids begin with their time. */
const timeOf = (requestId: string): number => Number.parseInt(requestId.slice(4, 16), 16)

async function amountProblem(row: ChargeRow, deps: ChargeDeps): Promise<string | undefined> {
  // Without its request row, a call is proven only by its receipt.
  if (isCall(row) && (row.request_id === '' || isFree(row))) return undefined
  const price = deps.priceOf(row.price_id)
  if (price === undefined) return `its price ${row.price_id} is not there`
  if (price.account !== undefined && price.account.id !== row.account_id) {
    return `its price ${price.id} is another account's`
  }
  const termsOf: TermsOf = (id) => deps.priceOf(id)?.terms
  const cost = isCall(row) ? callCost(price.terms, row, termsOf) : taskCost(price.terms, row)
  if (typeof cost !== 'bigint') return cost
  const chargedNanos = -row.amount_nanos
  if (cost === chargedNanos) return undefined
  if (cost > chargedNanos && cost - chargedNanos === (await deps.lossOf(row.ref))) return undefined
  const [entry, made] = [chargedNanos, cost].map(formatNanos)
  return `${entry} are charged, price ${price.id} times quantity is ${made}`
}

/** Its cost, or why that cannot be computed. */
function callCost(terms: PriceTerms, row: ChargeRow, termsOf: TermsOf): bigint | string {
  const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } = row
  if (terms.unit !== row.unit) return `it is priced by ${terms.unit}, not ${row.unit}`
  if (terms.unit !== 'token') return quantityCost(terms, row)
  const usage = {
    inputTokens: input_tokens ?? -1,
    outputTokens: output_tokens ?? -1,
    cacheReadTokens: cache_read_tokens ?? -1,
    cacheWriteTokens: cache_write_tokens ?? -1,
  }
  const plain = usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens
  const isUsage = [...Object.values(usage), plain].every((count) => count >= 0)
  if (!isUsage) return 'its request row says no usage'
  if (row.quantity !== usage.inputTokens + usage.outputTokens) {
    return `its quantity is ${row.quantity}, its request row says ${usage.inputTokens + usage.outputTokens}`
  }
  const { toolCalls } = factsOf(row.tier)
  const { parts, others, applied } = basisIn(row)
  const charged: TokenUsage = { ...usage }
  if (toolCalls !== undefined) charged.toolCalls = toolCalls
  if (parts !== undefined) charged.parts = parts
  if (others !== undefined) charged.others = others
  if (others?.some(({ priceId }) => termsOf(priceId)?.unit !== 'token')) {
    return 'the price of another model that it names is not there'
  }
  if (parts !== undefined && !sameParts(parts, partsWithin(parts, usage))) {
    return 'its request row says more of a part than of the whole'
  }
  if (row.tier !== '' && row.tier !== tierLabel(terms, charged, applied)) {
    return `its tier is not '${row.tier}'`
  }
  return chargeTokens(terms, charged, applied, termsOf)
}

/** Of calls by searches, characters or seconds. */
function quantityCost(terms: PriceTerms, row: ChargeRow): bigint | string {
  const { quantity } = row
  if (quantity === undefined || !(quantity >= 0)) return 'it says no quantity'
  if (row.unit !== 'audio_second' && !Number.isSafeInteger(quantity)) {
    return 'its quantity is not whole'
  }
  const { applied } = basisIn(row)
  if (row.tier !== (tierLabel(terms, noTokens, applied) ?? ''))
    return `its tier is not '${row.tier}'`
  return chargeQuantity(terms, quantity, applied?.hours) ?? `a call is not priced by ${terms.unit}`
}

const sameParts = (said: TokenParts, within: TokenParts | undefined): boolean =>
  partNames.every((name) => (said[name] ?? 0) === (within?.[name] ?? 0))

/** What the columns of the row do not have. Most charges are without it, and it is not read for them. */
function basisIn({ detail }: ChargeRow): Pick<RequestDetail, 'parts' | 'others' | 'applied'> {
  return detail === '' ? {} : readRequestDetail(detail)
}

function taskCost(terms: PriceTerms, row: ChargeRow): bigint | string {
  const { quantity, unit, tier } = row
  const hours = row.task_at_ms === undefined ? undefined : hoursAt(terms, row.task_at_ms)
  if (terms.unit !== unit) return `it is priced by ${terms.unit}, not ${unit}`
  if (quantity === undefined || !(quantity >= 0)) return 'it says no quantity'
  if (terms.unit === 'token') return imageTokenCost(terms, row, hours)
  if (unit !== 'video_second' && !Number.isSafeInteger(quantity)) return 'its quantity is not whole'
  const cost =
    terms.unit === 'video_second'
      ? chargeSeconds(terms, tier || olderTier(terms, row), quantity, hours)
      : terms.unit === 'video_token'
        ? chargeVideoTokens(terms, quantity, hours)
        : chargeImages(terms, quantity, tier, hours)
  return cost ?? `its price has no tier '${tier}'`
}

/** Images by tokens: what was charged for is in the row of the task. */
function imageTokenCost(
  terms: PriceTerms,
  { task_body, quantity, tier }: ChargeRow,
  hours: number | undefined,
): bigint | string {
  const tokens = tokensIn(task_body)
  if (tokens === undefined) return 'its task says no usage'
  const { parts, ...counts } = tokens
  const fresh = tokens.inputTokens - tokens.cacheReadTokens - tokens.cacheWriteTokens
  const isUsage = [...Object.values(counts), fresh].every(
    (each) => Number.isSafeInteger(each) && each >= 0,
  )
  if (!isUsage) return 'its task says no usage'
  if (parts !== undefined && !sameParts(parts, partsWithin(parts, tokens))) {
    return 'its task says more of a part than of the whole'
  }
  const total = tokens.inputTokens + tokens.outputTokens
  if (quantity !== total) return `its quantity is ${quantity}, its task says ${total}`
  const applied = hours === undefined ? undefined : { hours }
  if (tier !== (tierLabel(terms, tokens, applied) ?? '')) return `its tier is not '${tier}'`
  return chargeTokens(terms, tokens, applied)
}

function tokensIn(body: string): TokenCounts | undefined {
  const parsed = parseJson(body, maxBodyDepth)
  const value = 'value' in parsed ? (parsed.value as Partial<Pick<Task, 'usage'>> | null) : null
  const tokens = value?.usage?.tokens
  return isObject(tokens) ? (tokens as unknown as TokenCounts) : undefined
}

/** Charges from before schema 5 name no tier: finds the one that yields their amount. */
const olderTier = (terms: PriceTerms & { unit: 'video_second' }, row: ChargeRow): string =>
  Object.keys(terms.perSecondNanos).find(
    (tier) => chargeSeconds(terms, tier, row.quantity ?? 0) === -row.amount_nanos,
  ) ?? ''
