// Token counts of this style: reasoning is counted beside the output, cached tokens inside the input.
import type { ReportedUsage } from '../../contract/usage.ts'
import { isObject } from '../../lib/json/parse.ts'
import type { AnswerUsage } from '../common/answer.ts'
import { tokenCount } from '../common/answer-usage.ts'
import type { Json } from '../common/conversation.ts'
import { detailsFor, readCounts } from './counts.ts'
import { searchField } from './wire.ts'

export function readUsage(raw: unknown): ReportedUsage | undefined {
  const counts = readCounts(raw)
  if (counts === undefined) return undefined
  const { inputTokens, outputTokens, cacheReadTokens, reasoningTokens, parts } = counts
  const usage = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens: 0 }
  const searches = isObject(raw) ? tokenCount(raw[searchField]) : undefined
  return {
    ...usage,
    ...(parts !== undefined && { parts }),
    ...(reasoningTokens > 0 && { reasoningTokens }),
    ...(searches && { toolCalls: { web_search: searches } }),
  }
}

export const writeUsage = (usage: AnswerUsage): Json => ({
  promptTokenCount: usage.inputTokens,
  candidatesTokenCount: usage.outputTokens - usage.reasoningTokens,
  totalTokenCount: usage.inputTokens + usage.outputTokens,
  ...(usage.cacheReadTokens > 0 && { cachedContentTokenCount: usage.cacheReadTokens }),
  ...(usage.reasoningTokens > 0 && { thoughtsTokenCount: usage.reasoningTokens }),
  ...detailsFor(usage.parts, usage.inputTokens, usage.outputTokens - usage.reasoningTokens),
})
