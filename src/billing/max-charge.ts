// The most that a call within its bounds can cost: all of its input and output at the dearest rate that the
// request can meet, in the most expensive tier that its input can reach.
import type { PriceTerms, RateName, TokenRates, TokenTerms } from '../contract/price.ts'
import { ensure } from '../lib/ensure.ts'
import { hoursFactor } from './charge.ts'
import { ownRates, rateFifths } from './rates.ts'

/** What a request asks for that rates may depend on; absent: nothing of the kind. */
export interface Reach {
  /** Rates beside input, output, reads and shorter writes. */
  readonly rates?: readonly RateName[] | undefined
  /** Service tiers that may serve it beside the plain one; `all`: any that the price has. */
  readonly serviceTiers?: readonly string[] | 'all' | undefined
  /** The hours of the price that it falls into. */
  readonly hours?: number | undefined
}

/** Fifths of millionths. */
const perNano = 5_000_000n
const one = 1_000_000_000n
const nowhere: Reach = {}

export function maxChargeTokens(
  terms: PriceTerms,
  inputTokens: number,
  outputTokens: number,
  reach: Reach = nowhere,
): bigint {
  ensure(terms.unit === 'token', 'token usage is priced by tokens')
  ensure(inputTokens >= 0 && outputTokens >= 0, 'usage is never negative')
  const plain = maxAmong(terms.tiers, inputTokens, outputTokens, reach.rates)
  if (terms.serviceTiers === undefined && terms.geo === undefined && reach.hours === undefined) {
    return (plain + perNano / 2n) / perNano
  }
  let max = plain * one
  for (const name of namedTiers(terms, reach)) {
    const ofTier = maxOfTier(terms, name, inputTokens, outputTokens, reach.rates)
    if (ofTier > max) max = ofTier
  }
  const whole = perNano * one ** 3n
  const total = max * dearestPlace(terms) * hoursFactor(terms, reach.hours)
  return (total + whole / 2n) / whole
}

function namedTiers({ serviceTiers = {} }: TokenTerms, reach: Reach): readonly string[] {
  return reach.serviceTiers === 'all' ? Object.keys(serviceTiers) : (reach.serviceTiers ?? [])
}

function maxOfTier(
  terms: TokenTerms,
  name: string,
  inputTokens: number,
  outputTokens: number,
  rates: Reach['rates'],
): bigint {
  const own = ownRates(terms, name)
  if (own !== undefined) return maxAmong([own], inputTokens, outputTokens, rates) * one
  const tier = terms.serviceTiers?.[name]
  const factor = tier !== undefined && 'factorNanos' in tier ? tier.factorNanos : one
  return maxAmong(terms.tiers, inputTokens, outputTokens, rates) * factor
}

/** Which place an answer comes from is known only afterwards. */
function dearestPlace({ geo }: TokenTerms): bigint {
  let max = one
  if (geo !== undefined) for (const name in geo) if (geo[name]! > max) max = geo[name]!
  return max
}

/** In fifths of millionths. */
function maxAmong(
  tiers: TokenTerms['tiers'],
  inputTokens: number,
  outputTokens: number,
  rates: Reach['rates'],
): bigint {
  let max = 0n
  for (let i = 0; i < tiers.length; i++) {
    const tier = tiers[i]!
    const upTo = i === tiers.length - 1 ? undefined : tier.upTo
    const isLast = upTo === undefined || upTo >= inputTokens
    const total =
      BigInt(isLast ? inputTokens : upTo) * dearestInput(tier, rates) +
      BigInt(outputTokens) * dearestOutput(tier, rates)
    if (total > max) max = total
    if (isLast) break
  }
  return max
}

function dearestInput(rates: TokenRates, more: Reach['rates']): bigint {
  const { inputNanos, cacheReadNanos, cacheWriteNanos } = rates
  let maxNanos = inputNanos
  if (cacheReadNanos !== undefined && cacheReadNanos > maxNanos) maxNanos = cacheReadNanos
  if (cacheWriteNanos !== undefined && cacheWriteNanos > maxNanos) maxNanos = cacheWriteNanos
  return dearer(rates, maxNanos * 5n, more, false)
}

const dearestOutput = (rates: TokenRates, more: Reach['rates']): bigint =>
  dearer(rates, rates.outputNanos * 5n, more, true)

function dearer(rates: TokenRates, max: bigint, more: Reach['rates'], ofOutput: boolean): bigint {
  if (more === undefined) return max
  let dearest = max
  for (const name of more) {
    if (name.startsWith('output') !== ofOutput) continue
    const fifths = rateFifths(rates, name)
    if (fifths > dearest) dearest = fifths
  }
  return dearest
}
