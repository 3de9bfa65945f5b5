// What the usage objects of all text styles have in common: counts that can be believed.
import type { Reported } from '../../contract/provider.ts'
import type { TokenUsage } from '../../contract/usage.ts'
import { isObject } from '../../lib/json.ts'

/** More tokens than any model takes: a count above this is noise, not usage. */
const absurd = 100_000_000

/** A believable count, else undefined. A zero is a zero. */
export function count(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= absurd
    ? (value as number)
    : undefined
}

/** Usage whose cached and written tokens lie inside the input. Contradictory usage is no usage. */
export function plainUsage(
  raw: unknown,
  inputTokens: number | undefined,
  outputTokens: number | undefined,
  cacheReadTokens: number | undefined,
  cacheWriteTokens: number | undefined,
): Reported {
  if (
    inputTokens === undefined ||
    outputTokens === undefined ||
    cacheReadTokens === undefined ||
    cacheWriteTokens === undefined ||
    inputTokens > absurd ||
    cacheReadTokens + cacheWriteTokens > inputTokens
  ) {
    return { usage: undefined, raw }
  }
  const usage: TokenUsage = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }
  return { usage, raw }
}

/** Upstreams put written tokens at the top, one level down, or split by lifetime. */
export function writtenTokens(details: Readonly<Record<string, unknown>>): unknown {
  const top = details['cache_creation_input_tokens']
  if (top !== undefined && top !== null) return top
  const nested = details['cache_creation']
  if (!isObject(nested)) return 0
  const inner = nested['cache_creation_input_tokens']
  if (inner !== undefined && inner !== null) return inner
  const parts = Object.entries(nested).filter(([name]) => name.startsWith('ephemeral_'))
  return parts.reduce((sum, [, value]) => sum + (typeof value === 'number' ? value : 0), 0)
}
