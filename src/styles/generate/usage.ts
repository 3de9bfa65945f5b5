// Token counts of this style: reasoning is counted beside the output, cached tokens inside the input.
import { isObject } from '../../lib/json/parse.ts'
import type { AnswerUsage } from '../common/answer.ts'
import { consistentUsage, firstCount } from '../common/answer-usage.ts'
import type { Json } from '../common/conversation.ts'
import { camelCased } from './field-names.ts'

export function readUsage(given: unknown): AnswerUsage | undefined {
  if (!isObject(given)) return undefined
  const usage = camelCased(given)
  const reasoningTokens = firstCount(usage['thoughtsTokenCount'])
  return consistentUsage({
    inputTokens:
      firstCount(usage['promptTokenCount']) + firstCount(usage['toolUsePromptTokenCount']),
    outputTokens: firstCount(usage['candidatesTokenCount']) + reasoningTokens,
    cacheReadTokens: firstCount(usage['cachedContentTokenCount']),
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
