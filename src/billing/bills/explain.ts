// The arithmetic of a charge, line by line, for a person to follow.
import type { Entry } from '../../contract/ledger.ts'
import type { Price, PriceTerms } from '../../contract/price.ts'
import type { TokenUsage } from '../../contract/usage.ts'
import { isObject } from '../../lib/json/parse.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import {
  chargeImages,
  chargeSeconds,
  chargeTokens,
  chargeVideoTokens,
  imageRateNanos,
  tierFor,
  tokenLines,
} from '../charge.ts'

export function explainTokens(price: Price, usage: TokenUsage, currency: string): string[] {
  if (price.terms.unit !== 'token') return []
  const { tiers } = price.terms
  const tier = tierFor(tiers, usage.inputTokens)
  const steps = [
    `usage: ${usage.inputTokens} input tokens (${usage.cacheReadTokens} read from cache, ` +
      `${usage.cacheWriteTokens} written to cache), ${usage.outputTokens} output tokens`,
  ]
  if (tiers.length > 1) {
    const bound = tier.upTo === undefined ? 'no upper bound' : `up to ${tier.upTo}`
    steps.push(`tier ${tiers.indexOf(tier) + 1} of ${tiers.length} (${bound}), by the whole input`)
  }
  let total = 0n
  for (const { what, tokens, perMillionNanos } of tokenLines(tier, usage)) {
    if (tokens === 0) continue
    const product = BigInt(tokens) * perMillionNanos
    total += product
    steps.push(
      `${what}: ${tokens} x ${formatNanos(perMillionNanos)} per million = ${exact(product)}`,
    )
  }
  for (const [name, calls] of Object.entries(usage.toolCalls ?? {})) {
    const each = price.terms.perCallNanos?.[name] ?? 0n
    total += BigInt(calls) * each * 1_000_000n
    steps.push(
      `${name}: ${calls} calls x ${formatNanos(each)} = ${formatNanos(BigInt(calls) * each)}`,
    )
  }
  const charge = chargeTokens(price.terms, usage)
  steps.push(`sum ${exact(total)}, rounded half up to ${formatNanos(charge)} ${currency}`)
  return steps
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
  { quantity, tier }: { quantity: number; tier: string | undefined },
  currency: string,
): string[] {
  const [count, charge, each] = unitsOf(terms, quantity, tier)
  if (charge === undefined) return []
  return [`${count} x ${each} = ${formatNanos(charge)} ${currency}, rounded half up`]
}

function unitsOf(
  terms: PriceTerms,
  quantity: number,
  tier = '',
): [string, bigint | undefined, string] {
  switch (terms.unit) {
    case 'image':
      return [
        'perSizeNanos' in terms ? `${quantity} pictures of ${tier}` : `${quantity} pictures`,
        chargeImages(terms, quantity, tier),
        formatNanos(imageRateNanos(terms, tier) ?? 0n),
      ]
    case 'video_second':
      return [
        `${quantity} seconds at ${tier}`,
        chargeSeconds(terms, tier, quantity),
        formatNanos(terms.perSecondNanos[tier] ?? 0n),
      ]
    case 'video_token':
      return [
        `${quantity} video tokens`,
        chargeVideoTokens(terms, quantity),
        `${formatNanos(terms.perMillionNanos)} per million`,
      ]
    default:
      return ['', undefined, '']
  }
}

/** A product of tokens and nano-units per million has up to fifteen decimals. */
function exact(nanoMillionths: bigint): string {
  const digits = nanoMillionths.toString().padStart(16, '0')
  return `${digits.slice(0, -15)}.${digits.slice(-15).replace(/0{1,13}$/, '')}`
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
