// Why this amount: the arithmetic of a charge, line by line, as a person would do it.
import type { Price } from '../contract/price.ts'
import type { TokenUsage } from '../contract/usage.ts'
import { formatNanos } from '../lib/decimal.ts'
import { chargeTokens, tierFor, tokenLines } from './charge.ts'

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
  const charge = chargeTokens(price.terms, usage)
  steps.push(`sum ${exact(total)}, rounded half up to ${formatNanos(charge)} ${currency}`)
  return steps
}

/** A product of tokens and nano-units per million has up to fifteen decimals. */
function exact(nanoMillionths: bigint): string {
  const digits = nanoMillionths.toString().padStart(16, '0')
  return `${digits.slice(0, -15)}.${digits.slice(-15).replace(/0{1,13}$/, '')}`
}
