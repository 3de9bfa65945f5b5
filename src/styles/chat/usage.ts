// Usage in the chat style: the input includes cached and written tokens, the output reasoning.
import type { ReportedUsage } from '../../contract/usage.ts'
import type { AnswerUsage } from '../common/answer.ts'
import { inputMedia, outputMedia, plainUsage } from '../common/answer-usage.ts'
import type { Json } from '../common/conversation.ts'

export const readUsage = (raw: unknown): ReportedUsage | undefined => plainUsage(raw)

export const writeUsage = (usage: AnswerUsage): Json => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
  prompt_tokens_details: {
    cached_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    ...inputMedia(usage),
  },
  completion_tokens_details: { reasoning_tokens: usage.reasoningTokens, ...outputMedia(usage) },
})
