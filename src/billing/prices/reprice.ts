// What sums of usage would have cost at other terms. A sum does not contain its single charges, so
// the result is a range: exact wherever rounding and tiers are unambiguous. Pure.
import { sizeCharged } from '../../contract/media/image-size.ts'
import {
  callUnits,
  imageSizes,
  type PriceTerms,
  type RateName,
  type TokenTerms,
  type TokenTier,
} from '../../contract/price.ts'
import { hoursAt } from '../../contract/price-hours.ts'
import type { TokenParts } from '../../contract/usage.ts'
import { billionths, chargeCalls, hoursFactor, imageRateNanos, rateFactors } from '../charge.ts'
import { factsOf, partRates } from '../charge-label.ts'
import { ownRates, rateFifths, tierFor } from '../rates.ts'

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
  /** The hour in which they were booked; absent: any in the period. */
  hourMs?: number
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
      const sum = { parts: [[thousandths, rate, rate]], per: 1000n } as const
      return rounded(atHours(sum, terms, spent), spent.entries)
    }
    case 'video_token': {
      const { perMillionNanos: rate } = terms
      const sum = { parts: [[whole(spent.quantity), rate, rate]], per: million } as const
      return rounded(atHours(sum, terms, spent), spent.entries)
    }
    case 'search':
    case 'character':
    case 'audio_second': {
      const { unit, rateNanos: rate } = terms
      const parts = [[billionths(spent.quantity), rate, rate]] as const
      return rounded(
        atHours({ parts, per: one * callUnits[unit].per }, terms, spent),
        spent.entries,
      )
    }
    case 'free':
      return { minNanos: 0n, maxNanos: 0n }
  }
}

const million = 1_000_000n
const one = 1_000_000_000n

/** Kinds of tokens that a sum holds, and the rates that each may be charged by. */
const sides: readonly [RateName, readonly (keyof TokenParts)[]][] = [
  ['input', ['inputAudioTokens', 'inputImageTokens']],
  ['output', ['outputAudioTokens', 'outputImageTokens']],
  ['cache_read', []],
  ['cache_write', ['cacheWrite1hTokens']],
]

function repriceTokens(terms: TokenTerms, spent: Spent, bounds: readonly number[]): Range | string {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = spent
  if (inputTokens + outputTokens !== spent.quantity) return 'the usage is not on record'
  const facts = factsOf(spent.tier)
  if (facts.hasOthers) return 'part of it was charged by prices of other models'
  const own = ownRates(terms, facts.serviceTier)
  const tiers =
    own !== undefined
      ? [own]
      : spent.entries === 1
        ? [tierFor(terms.tiers, inputTokens)]
        : tiersWithin(terms.tiers, spent.inputBucket, bounds)
  const { serviceTier, geo } = rateFactors(terms, facts)
  const factor = serviceTier === one && geo === one ? 1n : serviceTier * geo
  const counts: Partial<Record<RateName, number>> = {
    input: inputTokens - cacheReadTokens - cacheWriteTokens,
    output: outputTokens,
    cache_read: cacheReadTokens,
    cache_write: cacheWriteTokens,
  }
  const parts: Part[] = []
  const rates: bigint[] = []
  for (const [name, kinds] of sides) {
    // How many of the tokens are of a kind of their own is not summed.
    const names = [name, ...facts.parts.filter((part) => kinds.includes(part)).map(rateOf)]
    const possible = names.flatMap((each) => tiers.map((tier) => rateFifths(tier, each) * factor))
    parts.push([BigInt(counts[name]!), smallest(possible), max(possible)])
    if (counts[name]! > 0 || name === 'input' || name === 'output') rates.push(...possible)
  }
  const per = 5n * million * (factor === 1n ? 1n : one * one)
  if (facts.toolCalls !== undefined) {
    const calls = chargeCalls(terms, facts.toolCalls) * per
    parts.push([BigInt(spent.entries), calls, calls])
    rates.push(calls)
  }
  return rounded(atHours({ parts, per, rates }, terms, spent), spent.entries)
}

const rateOf = (part: keyof TokenParts): RateName => partRates[part]

/** The same with the hours of the terms that the charges may have fallen into. */
function atHours(sum: Sum, terms: PriceTerms, { hourMs }: Spent): Sum {
  if (terms.hours === undefined) return sum
  const factors = factorsWithin(terms, hourMs)
  const [low, high] = [smallest(factors), max(factors)]
  return {
    parts: sum.parts.map(([quantity, min, top]) => [quantity, min * low, top * high] as const),
    per: sum.per * one,
    rates: (sum.rates ?? sum.parts.flatMap(([, min, top]) => [min, top])).flatMap((rate) =>
      factors.map((factor) => rate * factor),
    ),
  }
}

const hourMsOf = 3_600_000
const minuteMs = 60_000
const known = new WeakMap<object, Map<number, bigint[]>>()

/** A call is booked when it has ended, and priced by when it was admitted: up to an hour before. */
function factorsWithin(terms: PriceTerms, hourMs: number | undefined): bigint[] {
  const { hours = [] } = terms
  if (hourMs === undefined) return [one, ...hours.map(({ factorNanos }) => factorNanos)]
  const byHour = known.get(hours) ?? new Map<number, bigint[]>()
  known.set(hours, byHour)
  let factors = byHour.get(hourMs)
  if (factors === undefined) {
    const found = new Set<bigint>()
    for (let ms = hourMs - hourMsOf; ms < hourMs + hourMsOf; ms += minuteMs) {
      found.add(hoursFactor(terms, hoursAt(terms, ms)))
    }
    factors = [...found]
    byHour.set(hourMs, factors)
  }
  return factors
}

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
  spent: Spent,
  before: PriceTerms | undefined,
): Range {
  const { quantity, tier } = spent
  const asked = [...imageSizes, undefined].filter(
    (size) =>
      before === undefined ||
      !('perSizeNanos' in before) ||
      sizeCharged(before, size) === (tier || undefined),
  )
  const rates = (asked.length === 0 ? [...imageSizes] : asked).map((size) =>
    imageRateNanos(terms, 'perSizeNanos' in terms ? sizeCharged(terms, size) : undefined),
  )
  const priced = rates.filter((rate) => rate !== undefined)
  const parts = [[whole(quantity), smallest(priced), max(priced)]] as const
  return rounded(atHours({ parts, per: 1n }, terms, spent), spent.entries)
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
