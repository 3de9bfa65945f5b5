// Token counts of this style: reasoning is counted beside the output, cached tokens inside the input.
import type { AnswerUsage } from '../common/answer.ts'
import { consistentUsage } from '../common/answer-usage.ts'
import type { Json } from '../common/conversation.ts'
import { readCounts } from './counts.ts'

export function readUsage(given: unknown): AnswerUsage | undefined {
  const counts = readCounts(given)
  if (counts === undefined) return undefined
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens, reasoningTokens } = counts
  return consistentUsage({
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens: 0,
    reasoningTokens,
  })
}

export const writeUsage = (usage: AnswerUsage): Json => ({
  promptTokenCount: usage.inputTokens,
  candidatesTokenCount: usage.outputTokens - usage.reasoningTokens,
  totalTokenCount: usage.inputTokens + usage.outputTokens,
  ...(usage.cacheReadTokens > 0 && { cachedContentTokenCount: usage.cacheReadTokens }),
  ...(usage.reasoningTokens > 0 && { thoughtsTokenCount: usage.reasoningTokens }),
})
