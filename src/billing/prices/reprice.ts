// What sums of usage would have cost at other terms. A sum does not contain its single charges, so
// the result is a range: exact wherever rounding and tiers are unambiguous. Pure.
import { sizeCharged } from '../../contract/media/image-size.ts'
import {
  imageSizes,
  type PriceTerms,
  type TokenRates,
  type TokenTier,
} from '../../contract/price.ts'
import {
  chargeCalls,
  chargeTokens,
  hourRateNanos,
  imageRateNanos,
  toolCallsOf,
  writesForHour,
} from '../charge.ts'

/** Charges that share an account, a model, a price, a tier and a size class of input. */
export interface Spent {
  accountId: string
  model: string
  unit: string
  tier: string
  priceId: string
  /** Every input was above this and at most the next bound. */
  inputBucket: number
  entries: number
  quantity: number
  /** Signed as in the ledger. */
  amountNanos: bigint
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
}

export interface Range {
  minNanos: bigint
  maxNanos: bigint
}

/** `bounds`: of the size classes, ascending. A string result says why they are not comparable. */
export function reprice(
  terms: PriceTerms,
  spent: Spent,
  before: PriceTerms | undefined,
  bounds: readonly number[],
): Range | string {
  if (terms.unit === 'default') return 'there is no general price'
  if (terms.unit !== spent.unit) return `charged by ${spent.unit}, drafted by ${terms.unit}`
  switch (terms.unit) {
    case 'token':
      return repriceTokens(terms, spent, bounds)
    case 'image':
      return repriceImages(terms, spent, before)
    case 'video_second': {
      const rate = terms.perSecondNanos[spent.tier]
      if (rate === undefined) return `the draft has no price for ${spent.tier}`
      const thousandths = BigInt(Math.round(spent.quantity * 1000))
      return rounded({ parts: [[thousandths, rate, rate]], per: 1000n }, spent.entries)
    }
    case 'video_token': {
      const { perMillionNanos: rate } = terms
      return rounded({ parts: [[whole(spent.quantity), rate, rate]], per: million }, spent.entries)
    }
  }
}

const million = 1_000_000n

function repriceTokens(
  terms: Extract<PriceTerms, { unit: 'token' }>,
  spent: Spent,
  bounds: readonly number[],
): Range | string {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = spent
  if (inputTokens + outputTokens !== spent.quantity) return 'the usage is not on record'
  const toolCalls = toolCallsOf(spent.tier)
  const callsNanos =
    toolCalls === undefined ? 0n : BigInt(spent.entries) * chargeCalls(terms, toolCalls)
  // How many of the written tokens were kept for an hour is not summed.
  const hasHour = writesForHour(spent.tier)
  if (spent.entries === 1 && !hasHour) {
    const nanos = chargeTokens(terms, spent) + callsNanos
    return { minNanos: nanos, maxNanos: nanos }
  }
  const tiers = tiersWithin(terms.tiers, spent.inputBucket, bounds)
  const part = (tokens: number, ...rateOf: ((tier: TokenRates) => bigint)[]): Part => {
    const rates = rateOf.flatMap((of) => tiers.map(of))
    return [BigInt(tokens), smallest(rates), max(rates)]
  }
  const parts = [
    part(inputTokens - cacheReadTokens - cacheWriteTokens, ({ inputNanos }) => inputNanos),
    part(outputTokens, ({ outputNanos }) => outputNanos),
    part(cacheReadTokens, ({ cacheReadNanos, inputNanos }) => cacheReadNanos ?? inputNanos),
    part(cacheWriteTokens, writeRateNanos, ...(hasHour ? [hourRateNanos] : [])),
  ]
  const rates = tiers.flatMap((tier) => [
    tier.inputNanos,
    tier.outputNanos,
    ...(cacheReadTokens > 0 ? [tier.cacheReadNanos ?? tier.inputNanos] : []),
    ...(cacheWriteTokens > 0 ? [writeRateNanos(tier)] : []),
    ...(hasHour ? [hourRateNanos(tier)] : []),
  ])
  const range = rounded({ parts, per: million, rates }, spent.entries)
  if (typeof range === 'string' || callsNanos === 0n) return range
  return { minNanos: range.minNanos + callsNanos, maxNanos: range.maxNanos + callsNanos }
}

const writeRateNanos = ({ cacheWriteNanos, inputNanos }: TokenRates): bigint =>
  cacheWriteNanos ?? inputNanos

/** Tiers possible for an input of this size class: one, unless a tier ends inside it. */
function tiersWithin(
  tiers: readonly TokenTier[],
  bucket: number,
  bounds: readonly number[],
): TokenTier[] {
  const upTo = bounds.find((bound) => bound > bucket) ?? Number.POSITIVE_INFINITY
  // The lowest class includes the empty input.
  const above = bucket === 0 ? -1 : bucket
  return tiers.filter((tier, index) => {
    const start = tiers[index - 1]?.upTo ?? -1
    const end = index === tiers.length - 1 ? Number.POSITIVE_INFINITY : tier.upTo!
    return start < upTo && end > above
  })
}

/** The requested size is known only as far as the old price distinguished sizes. */
function repriceImages(
  terms: Extract<PriceTerms, { unit: 'image' }>,
  { quantity, tier }: Spent,
  before: PriceTerms | undefined,
): Range {
  const asked = [...imageSizes, undefined].filter(
    (size) =>
      before === undefined ||
      !('perSizeNanos' in before) ||
      sizeCharged(before, size) === (tier || undefined),
  )
  const rates = (asked.length === 0 ? [...imageSizes] : asked).map((size) =>
    imageRateNanos(terms, 'perSizeNanos' in terms ? sizeCharged(terms, size) : undefined),
  )
  const known = rates.filter((rate) => rate !== undefined)
  const images = whole(quantity)
  return { minNanos: images * smallest(known), maxNanos: images * max(known) }
}

/** A quantity with its minimum and maximum rate. */
type Part = readonly [quantity: bigint, minRate: bigint, maxRate: bigint]

interface Sum {
  parts: readonly Part[]
  /** How many units a rate is for. */
  per: bigint
  /** Every rate that may apply; absent: those of the parts. */
  rates?: readonly bigint[]
}

/**
 * Every charge rounds its own part of the sum to whole nano-units, half up. All rates being
 * multiples of some step, a charge is a multiple of `step / per`, which bounds how far rounding can
 * move it; where that is whole, it cannot.
 */
function rounded({ parts, per, rates }: Sum, charges: number): Range {
  let minSum = 0n
  let maxSum = 0n
  for (const [quantity, minRate, maxRate] of parts) {
    minSum += quantity * minRate
    maxSum += quantity * maxRate
  }
  if (charges === 1 && minSum === maxSum) {
    const nanos = (minSum + per / 2n) / per
    return { minNanos: nanos, maxNanos: nanos }
  }
  const step = (rates ?? parts.map(([, rate]) => rate)).reduce(divisor, per)
  // Of fractions that are multiples of the step: the largest below one half, the smallest from it.
  const down = ((per - 1n) / 2n / step) * step
  const up = per - ((per / 2n + (per % 2n) + step - 1n) / step) * step
  const count = BigInt(charges)
  const atMin = minSum - count * down
  return {
    minNanos: atMin <= 0n ? 0n : (atMin + per - 1n) / per,
    maxNanos: (maxSum + count * up) / per,
  }
}

function divisor(a: bigint, b: bigint): bigint {
  let [large, small] = [a, b]
  while (small !== 0n) [large, small] = [small, large % small]
  return large
}

/** A sum of whole numbers, as the database adds quantities. */
const whole = (quantity: number): bigint => BigInt(Math.round(quantity))

const ascending = (values: readonly bigint[]): bigint[] =>
  values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
const smallest = (values: readonly bigint[]): bigint => ascending(values)[0] ?? 0n
const max = (values: readonly bigint[]): bigint => ascending(values).at(-1) ?? 0n
