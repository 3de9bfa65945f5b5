// Usage of Converse: `inputTokens` excludes cached and written tokens, as in the messages style.
import type { ReportedUsage } from '../../contract/usage.ts'
import { isObject } from '../../lib/json/parse.ts'
import { plainUsage } from '../common/answer-usage.ts'

export function readUsage(raw: unknown): ReportedUsage | undefined {
  if (!isObject(raw)) return undefined
  const { cacheDetails } = raw
  const details = Array.isArray(cacheDetails) ? cacheDetails.filter(isObject) : []
  const hour = details.find(({ ttl }) => ttl === '1h')?.['inputTokens']
  return plainUsage(
    {
      input_tokens: raw['inputTokens'],
      output_tokens: raw['outputTokens'],
      cache_read_input_tokens: raw['cacheReadInputTokens'],
      cache_creation_input_tokens: raw['cacheWriteInputTokens'],
      ...(hour !== undefined && { cache_creation: { ephemeral_1h_input_tokens: hour } }),
    },
    true,
  )
}
