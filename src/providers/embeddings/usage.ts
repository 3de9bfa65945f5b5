// Usage of embeddings to plain usage: input only.
import type { Reported } from '../../contract/provider.ts'
import { isObject } from '../../lib/json/parse.ts'
import { tokenCount as count } from '../../styles/common/answer-usage.ts'

export function readUsage(raw: unknown): Reported {
  if (!isObject(raw)) return { usage: undefined, raw: raw ?? undefined }
  const inputTokens =
    count(raw['prompt_tokens']) ?? count(raw['input_tokens']) ?? count(raw['total_tokens'])
  if (inputTokens === undefined) return { usage: undefined, raw }
  return { usage: { inputTokens, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }, raw }
}
