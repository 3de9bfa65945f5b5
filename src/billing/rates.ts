// The rates of a token price at a usage: which tokens are charged by which rate. Pure and exact.
import {
  type Applied,
  type RateName,
  rateFields,
  type TokenRates,
  type TokenTerms,
  type TokenTier,
} from '../contract/price.ts'
import type { TokenCounts } from '../contract/usage.ts'
import { ensure } from '../lib/ensure.ts'

const negative = 'usage is never negative and parts lie inside their whole'

/** Fifths of a nano-unit per million tokens: 1.6 x a rate is whole. */
type Fifths = bigint

/** Tokens that are charged by one rate. */
interface RateLine {
  what: RateName
  tokens: number
  fifths: Fifths
}

/** The whole input selects the tier; an input above the last bound uses the last tier. */
export function tierFor(tiers: readonly TokenTier[], inputTokens: number): TokenTier {
  for (const tier of tiers) if (tier.upTo === undefined || inputTokens <= tier.upTo) return tier
  const last = tiers.at(-1)
  ensure(last !== undefined, 'a token price has at least one tier')
  return last
}

/** Rates of its own that a service tier has; undefined: those of the price, times its factor. */
export function ownRates({ serviceTiers }: TokenTerms, name?: string): TokenRates | undefined {
  const tier = name === undefined ? undefined : serviceTiers?.[name]
  return tier !== undefined && 'rates' in tier ? tier.rates : undefined
}

export const ratesFor = (terms: TokenTerms, inputTokens: number, applied?: Applied): TokenRates =>
  ownRates(terms, applied?.serviceTier) ?? tierFor(terms.tiers, inputTokens)

/**
 * Upstreams take 2 x input for a write that is kept for an hour, and 1.25 x input for a shorter one: 1.6 x
 * the rate of writes, where there is one.
 */
function hourFifths({ cacheWrite1hNanos, cacheWriteNanos, inputNanos }: TokenRates): Fifths {
  if (cacheWrite1hNanos !== undefined) return cacheWrite1hNanos * 5n
  return cacheWriteNanos === undefined ? inputNanos * 10n : cacheWriteNanos * 8n
}

/** What a rate is where the price leaves it out. */
const usual: Readonly<Record<RateName, (rates: TokenRates) => bigint>> = {
  input: ({ inputNanos }) => inputNanos,
  output: ({ outputNanos }) => outputNanos,
  cache_read: ({ inputNanos }) => inputNanos,
  cache_write: ({ inputNanos }) => inputNanos,
  cache_write_1h: ({ inputNanos }) => inputNanos,
  input_audio: ({ inputNanos }) => inputNanos,
  input_image: ({ inputNanos }) => inputNanos,
  output_audio: ({ outputNanos }) => outputNanos,
  output_image: ({ outputNanos }) => outputNanos,
}

export const rateFifths = (rates: TokenRates, name: RateName): Fifths =>
  name === 'cache_write_1h'
    ? hourFifths(rates)
    : (rates[rateFields[name]] ?? usual[name](rates)) * 5n

/** All lines, with those that have no tokens. */
export function rateLines(rates: TokenRates, usage: TokenCounts): RateLine[] {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, parts = {} } = usage
  const { cacheWrite1hTokens: kept = 0, inputAudioTokens: audio = 0 } = parts
  const { inputImageTokens: images = 0, outputAudioTokens: spoken = 0 } = parts
  const { outputImageTokens: drawn = 0 } = parts
  const counts: [RateName, number][] = [
    ['input', inputTokens - cacheReadTokens - cacheWriteTokens - audio - images],
    ['cache_read', cacheReadTokens],
    ['cache_write', cacheWriteTokens - kept],
    ['cache_write_1h', kept],
    ['input_audio', audio],
    ['input_image', images],
    ['output', outputTokens - spoken - drawn],
    ['output_audio', spoken],
    ['output_image', drawn],
  ]
  return counts.map(([what, tokens]) => {
    ensure(tokens >= 0, negative)
    return { what, tokens, fifths: rateFifths(rates, what) }
  })
}

/** Millionths of a nano-unit, for usage without parts; without creating lines: this runs twice per call. */
export function plainSum(rates: TokenRates, usage: TokenCounts): bigint {
  const { inputTokens, outputTokens, cacheReadTokens: read, cacheWriteTokens: written } = usage
  const plain = inputTokens - read - written
  ensure(plain >= 0 && outputTokens >= 0 && read >= 0 && written >= 0, negative)
  let total = BigInt(plain) * rates.inputNanos + BigInt(outputTokens) * rates.outputNanos
  if (read > 0) total += BigInt(read) * (rates.cacheReadNanos ?? rates.inputNanos)
  if (written > 0) total += BigInt(written) * (rates.cacheWriteNanos ?? rates.inputNanos)
  return total
}

/** The same in fifths, for any usage. */
export function sumFifths(rates: TokenRates, usage: TokenCounts): bigint {
  if (usage.parts === undefined) return plainSum(rates, usage) * 5n
  let total = 0n
  for (const { tokens, fifths } of rateLines(rates, usage)) {
    if (tokens > 0) total += BigInt(tokens) * fifths
  }
  return total
}
