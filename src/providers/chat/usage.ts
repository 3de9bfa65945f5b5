// Chat usage on the wire to plain usage. Cached and written tokens lie inside `prompt_tokens`.

import type { Reported } from '../../contract/provider.ts'
import { isObject } from '../../lib/json.ts'

/** More tokens than any model takes: a count above this is noise, not usage. */
const absurd = 100_000_000

/** Missing, negative, fractional, huge or contradictory usage is no usage; a zero is a zero. */
export function readUsage(raw: unknown): Reported {
  if (!isObject(raw)) return { usage: undefined, raw: raw ?? undefined }
  const details = isObject(raw['prompt_tokens_details']) ? raw['prompt_tokens_details'] : {}
  const inputTokens = count(raw['prompt_tokens'])
  const outputTokens = count(raw['completion_tokens'])
  const cacheReadTokens = count(details['cached_tokens'] ?? 0)
  const cacheWriteTokens = count(written(details))
  if (
    inputTokens === undefined ||
    outputTokens === undefined ||
    cacheReadTokens === undefined ||
    cacheWriteTokens === undefined ||
    cacheReadTokens + cacheWriteTokens > inputTokens
  ) {
    return { usage: undefined, raw }
  }
  return { usage: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }, raw }
}

function count(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= absurd
    ? (value as number)
    : undefined
}

/** Upstreams put written tokens at the top, one level down, or split by lifetime. */
function written(details: Record<string, unknown>): unknown {
  const top = details['cache_creation_input_tokens']
  if (top !== undefined && top !== null) return top
  const nested = details['cache_creation']
  if (!isObject(nested)) return 0
  const inner = nested['cache_creation_input_tokens']
  if (inner !== undefined && inner !== null) return inner
  const parts = Object.entries(nested).filter(([name]) => name.startsWith('ephemeral_'))
  return parts.reduce((sum, [, value]) => sum + (typeof value === 'number' ? value : 0), 0)
}
