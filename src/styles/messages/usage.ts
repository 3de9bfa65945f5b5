// Usage in the messages style: `input_tokens` excludes cached and written tokens, so that the whole
// input is the sum of all three.
import type { ReportedUsage } from '../../contract/usage.ts'
import type { AnswerUsage } from '../common/answer.ts'
import { plainUsage } from '../common/answer-usage.ts'
import type { Json } from '../common/conversation.ts'

export const readUsage = (raw: unknown): ReportedUsage | undefined => plainUsage(raw, true)

export function writeUsage(usage: AnswerUsage): Json {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage
  const kept = usage.parts?.cacheWrite1hTokens
  return {
    input_tokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    ...(kept !== undefined && {
      cache_creation: {
        ephemeral_5m_input_tokens: cacheWriteTokens - kept,
        ephemeral_1h_input_tokens: kept,
      },
    }),
    output_tokens: outputTokens,
    ...(reasoningTokens > 0 && { output_tokens_details: { thinking_tokens: reasoningTokens } }),
  }
}
