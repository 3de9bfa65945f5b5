// Usage times price. Pure and exact: whole nano-units, one rounding per charge, half up.
import type { ImageSize, PriceTerms, TokenRates, TokenTier } from '../contract/price.ts'
import type { TokenUsage, ToolCalls } from '../contract/usage.ts'
import { ensure } from '../lib/ensure.ts'

const million = 1_000_000n
const negative = 'usage is never negative and cached tokens lie inside the input'

/** One factor of a charge, kept so that a person can follow the arithmetic. */
interface ChargeLine {
  what: 'input' | 'output' | 'cache_read' | 'cache_write' | 'cache_write_1h'
  tokens: number
  perMillionNanos: bigint
}

/** The whole input selects the tier; an input above the last bound uses the last tier. */
export function tierFor(tiers: readonly TokenTier[], inputTokens: number): TokenTier {
  const only = tiers.length === 1 ? tiers[0] : undefined
  const tier =
    only ?? tiers.find(({ upTo }) => upTo === undefined || inputTokens <= upTo) ?? tiers.at(-1)
  ensure(tier !== undefined, 'a token price has at least one tier')
  return tier
}

const labels = new WeakMap<TokenTier, string>()

/**
 * Name of a charge's tier: 'up to 32000', 'above 128000'. Undefined where there is only one, so
 * that most calls pay only for checking the number of tiers.
 */
export function tierLabel(
  terms: PriceTerms,
  inputTokens: number,
  { toolCalls, cacheWrite1hTokens }: Partial<TokenUsage> = {},
): string | undefined {
  const size = sizeLabel(terms, inputTokens)
  if (toolCalls === undefined && cacheWrite1hTokens === undefined) return size
  const calls = Object.keys(toolCalls ?? {})
    .sort()
    .map((name) => `${name} x${toolCalls?.[name]}`)
  const kept = cacheWrite1hTokens === undefined ? [] : [hourLabel]
  return [...(size === undefined ? [] : [size]), ...kept, ...calls].join(', ')
}

const hourLabel = 'cache_write_1h'

/** Whether some of the tokens of a label's charges were written for an hour; the log says how many. */
export const writesForHour = (label: string): boolean => label.split(', ').includes(hourLabel)

/** The calls of tools that a label names; undefined: none. */
export function toolCallsOf(label: string): ToolCalls | undefined {
  const found = [...label.matchAll(/(?:^|, )([a-z][a-z0-9_]*) x(\d{1,9})(?=,|$)/g)]
  if (found.length === 0) return undefined
  return Object.fromEntries(found.map(([, name = '', count = '0']) => [name, Number(count)]))
}

function sizeLabel(terms: PriceTerms, inputTokens: number): string | undefined {
  if (terms.unit !== 'token' || terms.tiers.length === 1) return undefined
  const tier = tierFor(terms.tiers, inputTokens)
  const known = labels.get(tier)
  if (known !== undefined) return known
  // The last tier covers everything above, whatever its own bound.
  const below = tier === terms.tiers.at(-1) ? terms.tiers.at(-2)?.upTo : undefined
  const label = below === undefined ? `up to ${tier.upTo}` : `above ${below}`
  labels.set(tier, label)
  return label
}

export function tokenLines(rates: TokenRates, usage: TokenUsage): ChargeLine[] {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  const { cacheWrite1hTokens = 0 } = usage
  const plain = inputTokens - cacheReadTokens - cacheWriteTokens
  const shorter = cacheWriteTokens - cacheWrite1hTokens
  const counts = [plain, outputTokens, cacheReadTokens, shorter, cacheWrite1hTokens]
  ensure(Math.min(...counts) >= 0, negative)
  return [
    { what: 'input', tokens: plain, perMillionNanos: rates.inputNanos },
    {
      what: 'cache_read',
      tokens: cacheReadTokens,
      perMillionNanos: rates.cacheReadNanos ?? rates.inputNanos,
    },
    {
      what: 'cache_write',
      tokens: shorter,
      perMillionNanos: rates.cacheWriteNanos ?? rates.inputNanos,
    },
    {
      what: 'cache_write_1h',
      tokens: cacheWrite1hTokens,
      perMillionNanos: hourRateNanos(rates),
    },
    { what: 'output', tokens: outputTokens, perMillionNanos: rates.outputNanos },
  ]
}

/** Upstreams take 2 x input for a write that is kept for an hour, and 1.25 x input for a shorter one. */
export const hourRateNanos = ({ cacheWrite1hNanos, cacheWriteNanos, inputNanos }: TokenRates) =>
  cacheWrite1hNanos ??
  (cacheWriteNanos === undefined ? 2n * inputNanos : (cacheWriteNanos * 8n + 2n) / 5n)

/** Nano-units for this usage at these terms; never negative. */
export function chargeTokens(terms: PriceTerms, usage: TokenUsage): bigint {
  ensure(terms.unit === 'token', 'token usage is priced by tokens')
  const total = sumOf(tierFor(terms.tiers, usage.inputTokens), usage)
  const tokens = (total + million / 2n) / million
  return usage.toolCalls === undefined ? tokens : tokens + chargeCalls(terms, usage.toolCalls)
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

/**
 * Maximum cost of a call within these bounds: all of its input at the highest input rate, in the
 * most expensive tier that its input can reach. `hourCache`: it asks for a cache of an hour.
 */
export function maxChargeTokens(
  terms: PriceTerms,
  inputTokens: number,
  outputTokens: number,
  hourCache = false,
): bigint {
  ensure(terms.unit === 'token', 'token usage is priced by tokens')
  ensure(inputTokens >= 0 && outputTokens >= 0, negative)
  const { tiers } = terms
  let maxNanos = 0n
  for (let i = 0; i < tiers.length; i++) {
    const tier = tiers[i]!
    const upTo = i === tiers.length - 1 ? undefined : tier.upTo
    const isLast = upTo === undefined || upTo >= inputTokens
    const input = BigInt(isLast ? inputTokens : upTo) * dearestInput(tier, hourCache)
    const total = input + BigInt(outputTokens) * tier.outputNanos
    if (total > maxNanos) maxNanos = total
    if (isLast) break
  }
  return (maxNanos + million / 2n) / million
}

function dearestInput(rates: TokenRates, hourCache: boolean): bigint {
  const { inputNanos, cacheReadNanos, cacheWriteNanos } = rates
  let maxNanos = inputNanos
  if (cacheReadNanos !== undefined && cacheReadNanos > maxNanos) maxNanos = cacheReadNanos
  if (cacheWriteNanos !== undefined && cacheWriteNanos > maxNanos) maxNanos = cacheWriteNanos
  const hourNanos = hourCache ? hourRateNanos(rates) : 0n
  if (hourNanos > maxNanos) maxNanos = hourNanos
  return maxNanos
}

/** Seconds of finished video at a resolution tier. Undefined: the price has no such tier. */
export function chargeSeconds(
  terms: PriceTerms,
  tier: string,
  seconds: number,
): bigint | undefined {
  ensure(seconds >= 0, 'usage is never negative')
  const perSecond = terms.unit === 'video_second' ? terms.perSecondNanos[tier] : undefined
  if (perSecond === undefined) return undefined
  const thousandths = BigInt(Math.round(seconds * 1000))
  return (thousandths * perSecond + 500n) / 1000n
}

/** Delivered images of a size. Undefined: the price is by another unit, or has no such size. */
export function chargeImages(terms: PriceTerms, images: number, tier?: string): bigint | undefined {
  ensure(Number.isSafeInteger(images) && images >= 0, 'images are whole and never negative')
  const each = imageRateNanos(terms, tier)
  return each === undefined ? undefined : BigInt(images) * each
}

/** Price of one image; `tier` is its size, where the price depends on it. */
export function imageRateNanos(terms: PriceTerms, tier?: string): bigint | undefined {
  if (terms.unit !== 'image') return undefined
  return 'perSizeNanos' in terms ? terms.perSizeNanos[tier as ImageSize] : terms.perImageNanos
}

/** Video tokens as counted upstream. Undefined: the price is by another unit. */
export function chargeVideoTokens(terms: PriceTerms, tokens: number): bigint | undefined {
  ensure(Number.isSafeInteger(tokens) && tokens >= 0, 'tokens are whole and never negative')
  if (terms.unit !== 'video_token') return undefined
  return (BigInt(tokens) * terms.perMillionNanos + million / 2n) / million
}

/** Equals the sum of the lines, without creating them: this runs twice per call. */
function sumOf(rates: TokenRates, usage: TokenUsage): bigint {
  const { inputTokens, outputTokens, cacheReadTokens: read, cacheWriteTokens: written } = usage
  const plain = inputTokens - read - written
  ensure(plain >= 0 && outputTokens >= 0 && read >= 0 && written >= 0, negative)
  let total = BigInt(plain) * rates.inputNanos + BigInt(outputTokens) * rates.outputNanos
  if (read > 0) total += BigInt(read) * (rates.cacheReadNanos ?? rates.inputNanos)
  if (written > 0) total += BigInt(written) * (rates.cacheWriteNanos ?? rates.inputNanos)
  const { cacheWrite1hTokens: kept } = usage
  if (kept === undefined) return total
  ensure(kept >= 0 && kept <= written, negative)
  return total + BigInt(kept) * (hourRateNanos(rates) - (rates.cacheWriteNanos ?? rates.inputNanos))
}
