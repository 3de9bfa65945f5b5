// Usage of Converse: `inputTokens` excludes cached and written tokens, as in the messages style.
import type { ReportedUsage } from '../../contract/usage.ts'
import { isObject } from '../../lib/json/parse.ts'
import { plainUsage, tokenCount } from '../common/answer-usage.ts'

export function readUsage(raw: unknown): ReportedUsage | undefined {
  if (!isObject(raw)) return undefined
  return plainUsage(
    {
      input_tokens: raw['inputTokens'],
      output_tokens: raw['outputTokens'],
      cache_read_input_tokens: raw['cacheReadInputTokens'],
      cache_creation_input_tokens: raw['cacheWriteInputTokens'],
      cache_creation: writtenFor(raw['cacheDetails']),
    },
    true,
  )
}

/** `[{ttl: '1h', inputTokens: 30}, {ttl: '5m', inputTokens: 20}]` */
function writtenFor(list: unknown) {
  const [hour, minutes] = ['ephemeral_1h_input_tokens', 'ephemeral_5m_input_tokens'] as const
  const sums = { [minutes]: 0, [hour]: 0 }
  for (const each of Array.isArray(list) ? list.filter(isObject) : []) {
    sums[each['ttl'] === '1h' ? hour : minutes]! += tokenCount(each['inputTokens']) ?? 0
  }
  return sums
}
