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
    count(firstSaid(details['cached_tokens'], more['cached_tokens'])),
    count(firstSaid(details['cache_write_tokens'], writtenTokens(details), writtenTokens(more))),
  )
}

/** A place that says zero may only have been filled in for form's sake. */
const firstSaid = (...places: unknown[]): unknown =>
  places.find((value) => value != null && value !== 0) ?? 0

/** One upstream tells of caches in a list of its own: `x_details: [{prompt_tokens_details}]`. */
function moreDetails(raw: Record<string, unknown>): Record<string, unknown> {
  const list = raw['x_details']
  const first: unknown = Array.isArray(list) ? list[0] : undefined
  if (!isObject(first) || !isObject(first['prompt_tokens_details'])) return {}
  return first['prompt_tokens_details']
}
