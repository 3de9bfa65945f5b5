// Usage in the chat style: the input includes cached and written tokens, the output reasoning.
import { isObject } from '../../lib/json/parse.ts'
import type { AnswerUsage } from '../common/answer.ts'
import { consistentUsage, firstCount, tokenCount } from '../common/answer-usage.ts'
import type { Json } from '../common/conversation.ts'

export function readUsage(raw: unknown): AnswerUsage | undefined {
  if (!isObject(raw)) return undefined
  const inputTokens = tokenCount(raw['prompt_tokens']) ?? tokenCount(raw['input_tokens'])
  const outputTokens = tokenCount(raw['completion_tokens']) ?? tokenCount(raw['output_tokens'])
  if (inputTokens === undefined || outputTokens === undefined) return undefined
  const input = objectIn(raw, 'prompt_tokens_details')
  const output = objectIn(raw, 'completion_tokens_details')
  return consistentUsage({
    inputTokens,
    outputTokens,
    cacheReadTokens: firstCount(
      input['cached_tokens'],
      input['cache_read_input_tokens'],
      raw['cached_tokens'],
      raw['prompt_cache_hit_tokens'],
      raw['cache_read_input_tokens'],
    ),
    cacheWriteTokens: firstCount(
      input['cache_write_tokens'],
      input['cache_creation_input_tokens'],
      raw['cache_creation_input_tokens'],
    ),
    reasoningTokens: firstCount(output['reasoning_tokens'], raw['reasoning_tokens']),
  })
}

function objectIn(holder: Json, name: string): Json {
  const value = holder[name]
  return isObject(value) ? value : {}
}

export const writeUsage = (usage: AnswerUsage): Json => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
  prompt_tokens_details: {
    cached_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
  },
  completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
})
