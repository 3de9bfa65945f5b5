// Usage of embeddings to plain usage: input only.
import type { Reported } from '../../contract/provider.ts'
import { isObject } from '../../lib/json.ts'
import { count, plainUsage } from '../text/usage.ts'

export function readUsage(raw: unknown): Reported {
  if (!isObject(raw)) return { usage: undefined, raw: raw ?? undefined }
  return plainUsage(raw, count(raw['prompt_tokens'] ?? raw['total_tokens']), 0, 0, 0)
}
