// Chat usage on the wire to plain usage. Cached and written tokens lie inside `prompt_tokens`.
import type { Reported } from '../../contract/provider.ts'
import { isObject } from '../../lib/json.ts'
import { count, plainUsage, writtenTokens } from '../text/usage.ts'

/** Missing, negative, fractional, huge or contradictory usage is no usage; a zero is a zero. */
export function readUsage(raw: unknown): Reported {
  if (!isObject(raw)) return { usage: undefined, raw: raw ?? undefined }
  const details = isObject(raw['prompt_tokens_details']) ? raw['prompt_tokens_details'] : {}
  return plainUsage(
    raw,
    count(raw['prompt_tokens']),
    count(raw['completion_tokens']),
    count(details['cached_tokens'] ?? 0),
    count(writtenTokens(details)),
  )
}
