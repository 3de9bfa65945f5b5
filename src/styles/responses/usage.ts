// Token counts of this style: the input includes cached and written tokens, the output reasoning.
import type { ReportedUsage } from '../../contract/usage.ts'
import type { AnswerUsage } from '../common/answer.ts'
import { plainUsage } from '../common/answer-usage.ts'
import type { Json } from '../common/conversation.ts'

export const readUsage = (raw: unknown): ReportedUsage | undefined => plainUsage(raw)

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
