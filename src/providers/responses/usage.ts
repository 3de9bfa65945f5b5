// Usage of the responses style to plain usage. Cached and written tokens lie inside `input_tokens`.
import type { Reported } from '../../contract/provider.ts'
import { isObject } from '../../lib/json.ts'
import { count, plainUsage, writtenTokens } from '../text/usage.ts'

export function readUsage(raw: unknown): Reported {
  if (!isObject(raw)) return { usage: undefined, raw: raw ?? undefined }
  const details = isObject(raw['input_tokens_details']) ? raw['input_tokens_details'] : {}
  const more = moreDetails(raw)
  return plainUsage(
    raw,
    count(raw['input_tokens']),
    count(raw['output_tokens']),
    count(details['cached_tokens'] ?? more['cached_tokens'] ?? 0),
    count(details['cache_write_tokens'] ?? firstWritten(details, more)),
  )
}

const firstWritten = (details: Record<string, unknown>, more: Record<string, unknown>): unknown => {
  const written = writtenTokens(details)
  return written === 0 ? writtenTokens(more) : written
}

/** One upstream tells of caches in a list of its own: `x_details: [{prompt_tokens_details}]`. */
function moreDetails(raw: Record<string, unknown>): Record<string, unknown> {
  const list = raw['x_details']
  const first: unknown = Array.isArray(list) ? list[0] : undefined
  if (!isObject(first) || !isObject(first['prompt_tokens_details'])) return {}
  return first['prompt_tokens_details']
}
