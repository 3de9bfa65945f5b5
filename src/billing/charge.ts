// Usage times price. Pure, exact and in one place: whole nano-units, one rounding, half up, per charge.
import type { PriceTerms, TokenRates, TokenTier } from '../contract/price.ts'
import type { TokenUsage } from '../contract/usage.ts'
import { ensure } from '../lib/ensure.ts'

const million = 1_000_000n

/** One factor of a charge, kept so that a person can follow the arithmetic. */
export interface ChargeLine {
  what: 'input' | 'output' | 'cache_read' | 'cache_write'
  tokens: number
  perMillionNanos: bigint
}

/** The whole input chooses the tier; what lies above the last bound is priced by the last tier. */
export function tierFor(tiers: readonly TokenTier[], inputTokens: number): TokenTier {
  const tier = tiers.find(({ upTo }) => upTo === undefined || inputTokens <= upTo) ?? tiers.at(-1)
  ensure(tier !== undefined, 'a token price has at least one tier')
  return tier
}

export function tokenLines(rates: TokenRates, usage: TokenUsage): ChargeLine[] {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  const plain = inputTokens - cacheReadTokens - cacheWriteTokens
  ensure(
    Math.min(plain, outputTokens, cacheReadTokens, cacheWriteTokens) >= 0,
    'usage is never negative and cached tokens lie inside the input',
  )
  return [
    { what: 'input', tokens: plain, perMillionNanos: rates.inputNanos },
    {
      what: 'cache_read',
      tokens: cacheReadTokens,
      perMillionNanos: rates.cacheReadNanos ?? rates.inputNanos,
    },
    {
      what: 'cache_write',
      tokens: cacheWriteTokens,
      perMillionNanos: rates.cacheWriteNanos ?? rates.inputNanos,
    },
    { what: 'output', tokens: outputTokens, perMillionNanos: rates.outputNanos },
  ]
}

/** Nano-units for this usage at these terms; never negative. */
export function chargeTokens(terms: PriceTerms, usage: TokenUsage): bigint {
  ensure(terms.unit === 'token', `token usage is priced by tokens, not by ${terms.unit}`)
  let total = 0n
  for (const line of tokenLines(tierFor(terms.tiers, usage.inputTokens), usage)) {
    if (line.tokens > 0) total += BigInt(line.tokens) * line.perMillionNanos
  }
  return (total + million / 2n) / million
}
