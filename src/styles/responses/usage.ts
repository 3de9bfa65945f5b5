// Token counts of this style: the input includes cached and written tokens, the output reasoning.
import { isObject } from '../../lib/json/parse.ts'
import { objectIn } from '../../lib/json/values.ts'
import type { AnswerUsage } from '../common/answer.ts'
import { consistentUsage, firstCount } from '../common/answer-usage.ts'
import type { Json } from '../common/conversation.ts'

export function readUsage(usage: unknown): AnswerUsage | undefined {
  if (!isObject(usage)) return undefined
  const input = objectIn(usage, 'input_tokens_details') ?? {}
  const output = objectIn(usage, 'output_tokens_details') ?? {}
  return consistentUsage({
    inputTokens: firstCount(usage['input_tokens'], usage['prompt_tokens']),
    outputTokens: firstCount(usage['output_tokens'], usage['completion_tokens']),
    cacheReadTokens: firstCount(input['cached_tokens']),
    cacheWriteTokens: firstCount(input['cache_write_tokens']),
    reasoningTokens: firstCount(output['reasoning_tokens']),
  })
}

/** The details are always there: clients fail without them. */
export const writeUsage = (usage: AnswerUsage): Json => ({
  input_tokens: usage.inputTokens,
  input_tokens_details: {
    cached_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
  },
  output_tokens: usage.outputTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  total_tokens: usage.inputTokens + usage.outputTokens,
})
