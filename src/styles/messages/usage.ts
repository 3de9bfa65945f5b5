// Usage in the messages style: `input_tokens` excludes cached and written tokens.
import { isObject } from '../../lib/json/parse.ts'
import type { AnswerUsage } from '../common/answer.ts'
import { consistentUsage, firstCount, tokenCount } from '../common/answer-usage.ts'
import type { Json } from '../common/conversation.ts'

/** Counts of a stream are totals: later ones replace earlier ones, unless they are null. */
export function mergeUsage(known: Json | undefined, news: unknown): Json | undefined {
  if (!isObject(news)) return known
  const merged: Record<string, unknown> = { ...known }
  for (const name in news) if (news[name] != null) merged[name] = news[name]
  return merged
}

export function readUsage(raw: Json | undefined): AnswerUsage | undefined {
  const fresh = tokenCount(raw?.['input_tokens'])
  const outputTokens = tokenCount(raw?.['output_tokens'])
  if (raw === undefined || fresh === undefined || outputTokens === undefined) return undefined
  const cacheReadTokens = firstCount(raw['cache_read_input_tokens'])
  const cacheWriteTokens = firstCount(raw['cache_creation_input_tokens'], written(raw))
  const details = raw['output_tokens_details']
  return consistentUsage({
    inputTokens: fresh + cacheReadTokens + cacheWriteTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: isObject(details) ? firstCount(details['thinking_tokens']) : 0,
  })
}

/** Split by lifetime. */
function written({ cache_creation: split }: Json): number {
  if (!isObject(split)) return 0
  let sum = 0
  for (const name in split) sum += tokenCount(split[name]) ?? 0
  return sum
}

export function writeUsage(usage: AnswerUsage): Json {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage
  return {
    input_tokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    output_tokens: outputTokens,
    ...(reasoningTokens > 0 && { output_tokens_details: { thinking_tokens: reasoningTokens } }),
  }
}
