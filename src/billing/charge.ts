// Usage times price. Pure and exact: whole nano-units, one rounding per charge, half up.
//
//   charge = (sum of tokens x rate, x service tier x geo, + tool calls) x hours
import {
  type Applied,
  callUnits,
  type ImageSize,
  isCallTerms,
  type PriceTerms,
  type TokenTerms,
} from '../contract/price.ts'
import type { OtherUsage, TokenCounts, TokenUsage, ToolCalls } from '../contract/usage.ts'
import { ensure } from '../lib/ensure.ts'
import { plainSum, ratesFor, sumFifths, tierFor } from './rates.ts'

const million = 1_000_000n
const one = 1_000_000_000n

/** What exact amounts are counted in: so many make a nano-unit. Fifths of millionths, times three factors. */
export const exactUnits = 5n * million * one ** 3n
const exactCall = 5n * million * one ** 2n

/** Terms of another price that a part of the usage is charged by. */
export type TermsOf = (priceId: string) => PriceTerms | undefined

/** Nano-units for this usage at these terms; never negative. */
export function chargeTokens(
  terms: PriceTerms,
  usage: TokenUsage,
  applied?: Applied,
  termsOf?: TermsOf,
): bigint {
  ensure(terms.unit === 'token', 'token usage is priced by tokens')
  const { toolCalls } = usage
  if (applied === undefined && usage.parts === undefined && usage.others === undefined) {
    const total = plainSum(tierFor(terms.tiers, usage.inputTokens), usage)
    const tokens = (total + million / 2n) / million
    return toolCalls === undefined ? tokens : tokens + chargeCalls(terms, toolCalls)
  }
  let exact = 0n
  for (const part of chargedParts(terms, usage, applied, termsOf)) exact += exactOf(part)
  return roundExact(exact)
}

/** Half up, once per charge. */
const roundExact = (exact: bigint): bigint => (exact + exactUnits / 2n) / exactUnits

/** Usage that is charged by one price. */
export interface ChargedPart {
  terms: TokenTerms
  usage: TokenUsage
  applied?: Applied | undefined
  /** Of another model than the one that was called. */
  model?: string
}

/** What the price itself charges, and what others do. */
export function chargedParts(
  terms: TokenTerms,
  usage: TokenUsage,
  applied: Applied | undefined,
  termsOf: TermsOf | undefined,
): ChargedPart[] {
  const { others, ...own } = usage
  if (others === undefined) return [{ terms, usage, applied }]
  const parts: ChargedPart[] = [{ terms, usage: others.reduce(without, own), applied }]
  for (const other of others) {
    const its = termsOf?.(other.priceId)
    ensure(its?.unit === 'token', `price ${other.priceId} is there and by tokens`)
    parts.push({ terms: its, usage: other, applied: other.applied, model: other.model })
  }
  return parts
}

function without<Usage extends TokenCounts>(usage: Usage, other: OtherUsage): Usage {
  const left: Usage = {
    ...usage,
    inputTokens: usage.inputTokens - other.inputTokens,
    outputTokens: usage.outputTokens - other.outputTokens,
    cacheReadTokens: usage.cacheReadTokens - other.cacheReadTokens,
    cacheWriteTokens: usage.cacheWriteTokens - other.cacheWriteTokens,
  }
  if (usage.parts === undefined || other.parts === undefined) return left
  const parts: Record<string, number> = { ...usage.parts }
  for (const [name, tokens] of Object.entries(other.parts)) parts[name] = parts[name]! - tokens
  return { ...left, parts }
}

/** Of the rates: those of the service tier and the place. */
export const rateFactors = (terms: TokenTerms, applied: Applied | undefined) => {
  const tier = applied?.serviceTier && terms.serviceTiers?.[applied.serviceTier]
  return {
    serviceTier: tier && 'factorNanos' in tier ? tier.factorNanos : one,
    geo: (applied?.geo && terms.geo?.[applied.geo]) || one,
  }
}

export const hoursFactor = ({ hours }: PriceTerms, index: number | undefined): bigint =>
  (index === undefined ? undefined : hours?.[index]?.factorNanos) ?? one

/** Not rounded. */
export function exactOf({ terms, usage, applied }: ChargedPart): bigint {
  const rates = ratesFor(terms, usage.inputTokens, applied)
  const { serviceTier, geo } = rateFactors(terms, applied)
  const tokens = sumFifths(rates, usage) * serviceTier * geo
  const calls = usage.toolCalls === undefined ? 0n : chargeCalls(terms, usage.toolCalls)
  return (tokens + calls * exactCall) * hoursFactor(terms, applied?.hours)
}

/** Calls of tools are whole, so that nothing is rounded. A tool without a price costs nothing. */
export function chargeCalls(terms: PriceTerms, toolCalls: ToolCalls): bigint {
  if (terms.unit !== 'token' || terms.perCallNanos === undefined) return 0n
  let total = 0n
  for (const name in toolCalls) {
    total += BigInt(toolCalls[name]!) * (terms.perCallNanos[name] ?? 0n)
  }
  return total
}

/** Nano-units times the factor of an hour, rounded with the division by `per` of the units. */
function rounded(total: bigint, per: bigint, terms: PriceTerms, hours: number | undefined): bigint {
  if (hours === undefined) return (total + per / 2n) / per
  const whole = per * one
  return (total * hoursFactor(terms, hours) + whole / 2n) / whole
}

/** Seconds of finished video at a resolution tier. Undefined: the price has no such tier. */
export function chargeSeconds(
  terms: PriceTerms,
  tier: string,
  seconds: number,
  hours?: number,
): bigint | undefined {
  ensure(seconds >= 0, 'usage is never negative')
  const perSecond = terms.unit === 'video_second' ? terms.perSecondNanos[tier] : undefined
  if (perSecond === undefined) return undefined
  return rounded(BigInt(Math.round(seconds * 1000)) * perSecond, 1000n, terms, hours)
}

/** Delivered images of a size. Undefined: the price is by another unit, or has no such size. */
export function chargeImages(
  terms: PriceTerms,
  images: number,
  tier?: string,
  hours?: number,
): bigint | undefined {
  ensure(Number.isSafeInteger(images) && images >= 0, 'images are whole and never negative')
  const each = imageRateNanos(terms, tier)
  return each === undefined ? undefined : rounded(BigInt(images) * each, 1n, terms, hours)
}

/** Price of one image; `tier` is its size, where the price depends on it. */
export function imageRateNanos(terms: PriceTerms, tier?: string): bigint | undefined {
  if (terms.unit !== 'image') return undefined
  return 'perSizeNanos' in terms ? terms.perSizeNanos[tier as ImageSize] : terms.perImageNanos
}

/** Video tokens as counted upstream. Undefined: the price is by another unit. */
export function chargeVideoTokens(
  terms: PriceTerms,
  tokens: number,
  hours?: number,
): bigint | undefined {
  ensure(Number.isSafeInteger(tokens) && tokens >= 0, 'tokens are whole and never negative')
  if (terms.unit !== 'video_token') return undefined
  return rounded(BigInt(tokens) * terms.perMillionNanos, million, terms, hours)
}

/** Searches, characters or seconds of audio. Undefined: the price is by another unit. */
export function chargeQuantity(
  terms: PriceTerms,
  quantity: number,
  hours?: number,
): bigint | undefined {
  ensure(quantity >= 0, 'usage is never negative')
  if (!isCallTerms(terms)) return undefined
  if (terms.unit === 'free') return 0n
  return rounded(
    billionths(quantity) * terms.rateNanos,
    one * callUnits[terms.unit].per,
    terms,
    hours,
  )
}

/** Seconds have fractions. */
export const billionths = (quantity: number): bigint => BigInt(Math.round(quantity * 1e9))

/** For a sum that grows with each charge. */
export const addCharge = (sumNanos: bigint, chargeNanos: bigint): bigint => sumNanos + chargeNanos

/** What all of a batch's lines cost if the rest costs as much as those that have ended; rounded up. */
export const estimateOf = (chargeNanos: bigint, ended: number, total: number): bigint =>
  (chargeNanos * BigInt(total) + BigInt(ended - 1)) / BigInt(ended)
