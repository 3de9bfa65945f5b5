// Token counts of this style: the input includes cached and written tokens, the output reasoning.
import type { ReportedUsage, ToolCalls } from '../../contract/usage.ts'
import { isObject } from '../../lib/json/parse.ts'
import type { AnswerUsage } from '../common/answer.ts'
import { inputMedia, outputMedia, plainUsage } from '../common/answer-usage.ts'
import type { Json } from '../common/conversation.ts'

export const readUsage = (raw: unknown): ReportedUsage | undefined => plainUsage(raw)

/** The details are always there: clients fail without them. */
export const writeUsage = (usage: AnswerUsage): Json => ({
  input_tokens: usage.inputTokens,
  input_tokens_details: {
    cached_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    ...inputMedia(usage),
  },
  output_tokens: usage.outputTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens, ...outputMedia(usage) },
  total_tokens: usage.inputTokens + usage.outputTokens,
})

/** By the type of an output item of the responses style. */
const itemNames: Readonly<Record<string, string>> = {
  web_search_call: 'web_search',
  file_search_call: 'file_search',
  code_interpreter_call: 'code_interpreter',
  image_generation_call: 'image_generation',
  mcp_call: 'mcp',
}

/** Items of an answer. Pages that a search opened are part of it. */
export function toolCallsAmong(items: readonly unknown[]): ToolCalls | undefined {
  let calls: Record<string, number> | undefined
  for (const item of items) {
    if (!isObject(item)) continue
    const { type, status, action } = item
    const name = typeof type === 'string' ? itemNames[type] : undefined
    if (name === undefined || status === 'failed') continue
    if (isObject(action) && action['type'] !== undefined && action['type'] !== 'search') continue
    calls ??= {}
    calls[name] = (calls[name] ?? 0) + 1
  }
  return calls
}
