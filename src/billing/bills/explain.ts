// The arithmetic of a charge, line by line, for a person to follow.
import type { Entry } from '../../contract/ledger.ts'
import { type Applied, callUnits, type Price, type PriceTerms } from '../../contract/price.ts'
import { hoursName } from '../../contract/price-hours.ts'
import { factorText } from '../../contract/price-terms.ts'
import type { TokenUsage } from '../../contract/usage.ts'
import { isObject } from '../../lib/json/parse.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import {
  type ChargedPart,
  chargedParts,
  chargeImages,
  chargeQuantity,
  chargeSeconds,
  chargeTokens,
  chargeVideoTokens,
  exactOf,
  hoursFactor,
  imageRateNanos,
  rateFactors,
  type TermsOf,
} from '../charge.ts'
import { ownRates, rateLines, ratesFor, tierFor } from '../rates.ts'

/** `termsOf`: of the prices that parts of the usage are charged by. */
export function explainTokens(
  { model, terms }: Price,
  usage: TokenUsage,
  currency: string,
  applied?: Applied,
  termsOf?: TermsOf,
): string[] {
  if (terms.unit !== 'token') return []
  const steps = [
    `usage: ${usage.inputTokens} input tokens (${usage.cacheReadTokens} read from cache, ` +
      `${usage.cacheWriteTokens} written to cache), ${usage.outputTokens} output tokens`,
  ]
  let total = 0n
  for (const part of chargedParts(terms, usage, applied, termsOf)) {
    steps.push(...explainPart(part, usage.others && model))
    total += exactOf(part)
  }
  const charge = chargeTokens(terms, usage, applied, termsOf)
  steps.push(`sum ${exactText(total)}, rounded half up to ${formatNanos(charge)} ${currency}`)
  return steps
}

/** `own`: the model that was called, where others have parts: factors of its price do not multiply their lines. */
function explainPart({ terms, usage, applied, model }: ChargedPart, own?: string): string[] {
  const of = model === undefined ? '' : `${model} `
  const steps: string[] = []
  const { tiers } = terms
  if (tiers.length > 1 && ownRates(terms, applied?.serviceTier) === undefined) {
    const tier = tierFor(tiers, usage.inputTokens)
    const bound = tier.upTo === undefined ? 'no upper bound' : `up to ${tier.upTo}`
    steps.push(
      `${of}tier ${tiers.indexOf(tier) + 1} of ${tiers.length} (${bound}), by the whole input`,
    )
  }
  const rates = ratesFor(terms, usage.inputTokens, applied)
  for (const { what, tokens, fifths } of rateLines(rates, usage)) {
    if (tokens === 0) continue
    // Tenths of nano-units are the most exact rates: 1.6 x 0.000000001.
    const rate = decimalText(fifths * 2n, 10)
    const product = decimalText(BigInt(tokens) * fifths * 2n, 16)
    steps.push(`${of}${what}: ${tokens} x ${rate} per million = ${product}`)
  }
  for (const [name, calls] of Object.entries(usage.toolCalls ?? {})) {
    const each = terms.perCallNanos?.[name] ?? 0n
    steps.push(
      `${name}: ${calls} calls x ${formatNanos(each)} = ${formatNanos(BigInt(calls) * each)}`,
    )
  }
  for (const { kind, name, factor } of factorsOf(terms, applied)) {
    const what = kind === 'hours' ? 'everything' : 'tokens'
    const whose = model === undefined && own !== undefined ? ` of ${own}` : ''
    steps.push(`${of}${kind} ${name}: ${what}${whose} x ${factor}`)
  }
  return steps
}

/** What a charge was multiplied by. */
interface Factor {
  kind: 'hours' | 'service_tier' | 'geo'
  name: string
  factor: string
}

/** A service tier with rates of its own is no factor. */
export function factorsOf(terms: PriceTerms, applied: Applied | undefined): Factor[] {
  if (applied === undefined) return []
  const { serviceTier, geo, hours } = applied
  const rule = hours === undefined ? undefined : terms.hours?.[hours]
  const found: Factor[] = []
  if (rule !== undefined) {
    const factor = factorText(hoursFactor(terms, hours))
    found.push({ kind: 'hours', name: hoursName(rule), factor })
  }
  if (terms.unit !== 'token') return found
  const factors = rateFactors(terms, applied)
  if (serviceTier !== undefined && ownRates(terms, serviceTier) === undefined) {
    const factor = factorText(factors.serviceTier)
    found.push({ kind: 'service_tier', name: serviceTier, factor })
  }
  if (geo !== undefined) found.push({ kind: 'geo', name: geo, factor: factorText(factors.geo) })
  return found
}

export const roundingRule = 'once per charge, half up, to 0.000000001'

/** How reported usage became charged usage: where the upstream counts cached tokens. */
export function explainReading(reported: unknown, usage: TokenUsage): string[] {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  if (!isObject(reported)) return []
  if (cacheReadTokens + cacheWriteTokens === 0) {
    return [`as reported: ${inputTokens} tokens in, ${outputTokens} out`]
  }
  const whole = Object.entries(reported).find(([, value]) => value === inputTokens)
  if (whole !== undefined) {
    return [`the upstream counts cached tokens inside ${whole[0]}, which is the whole input`]
  }
  const fresh = inputTokens - cacheReadTokens - cacheWriteTokens
  return [
    `the upstream counts cached tokens apart: ${fresh} + ${cacheReadTokens} read + ` +
      `${cacheWriteTokens} written = ${inputTokens} input tokens`,
  ]
}

/** Delivered quantity times price; `tier` is that of the request, where the price has tiers. */
export function explainUnits(
  { terms }: Price,
  { quantity, tier, hours }: { quantity: number; tier: string | undefined; hours?: number },
  currency: string,
): string[] {
  const [count, charge, each] = unitsOf(terms, quantity, tier, hours)
  if (charge === undefined) return []
  const [factor] = factorsOf(terms, hours === undefined ? undefined : { hours })
  const times = factor === undefined ? '' : ` x ${factor.factor} (hours ${factor.name})`
  return [`${count} x ${each}${times} = ${formatNanos(charge)} ${currency}, rounded half up`]
}

/** One and several of what is charged for. */
const quantityNames = {
  image: ['image', 'images'],
  second: ['second', 'seconds'],
  token: ['video token', 'video tokens'],
  search: ['search', 'searches'],
  character: ['character', 'characters'],
  audio_second: ['second of audio', 'seconds of audio'],
} as const

const counted = (quantity: number, name: keyof typeof quantityNames): string =>
  `${quantity} ${quantityNames[name][quantity === 1 ? 0 : 1]}`

function unitsOf(
  terms: PriceTerms,
  quantity: number,
  tier = '',
  hours?: number,
): [string, bigint | undefined, string] {
  switch (terms.unit) {
    case 'image':
      return [
        `${counted(quantity, 'image')}${'perSizeNanos' in terms ? ` of ${tier}` : ''}`,
        chargeImages(terms, quantity, tier, hours),
        formatNanos(imageRateNanos(terms, tier) ?? 0n),
      ]
    case 'video_second':
      return [
        `${counted(quantity, 'second')} at ${tier}`,
        chargeSeconds(terms, tier, quantity, hours),
        formatNanos(terms.perSecondNanos[tier] ?? 0n),
      ]
    case 'video_token':
      return [
        counted(quantity, 'token'),
        chargeVideoTokens(terms, quantity, hours),
        `${formatNanos(terms.perMillionNanos)} per million`,
      ]
    case 'search':
    case 'character':
    case 'audio_second':
      return [
        counted(quantity, terms.unit),
        chargeQuantity(terms, quantity, hours),
        `${formatNanos(terms.rateNanos)} ${callUnits[terms.unit].field.replace('_', ' ')}`,
      ]
    case 'free':
      return ['calls of this model', 0n, '0.00']
    default:
      return ['', undefined, '']
  }
}

/** With as many decimals as there are digits behind the point, without zeros beyond the second. */
function decimalText(value: bigint, decimals: number): string {
  const digits = value.toString().padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0+$/, '').padEnd(2, '0')
  return `${digits.slice(0, -decimals)}.${fraction}`
}

/** What was given back of a charge, among its entries. */
export function explainRefunds(entries: readonly Entry[]): {
  refundedNanos: bigint
  steps: string[]
} {
  let refundedNanos = 0n
  const steps: string[] = []
  for (const { kind, amountNanos, atMs, note = '' } of entries) {
    if (kind !== 'refund') continue
    refundedNanos += amountNanos
    const day = new Date(atMs).toISOString().slice(0, 10)
    steps.push(`refunded on ${day}: ${formatNanos(amountNanos)} (${note})`)
  }
  return { refundedNanos, steps }
}

/** An exact sum: of fifths of millionths of nano-units, times three factors. */
const exactText = (exact: bigint): string => decimalText(exact * 2n, 43)
