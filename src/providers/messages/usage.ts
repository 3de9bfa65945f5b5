// Usage of the messages style to plain usage. Here cached and written tokens lie beside
// `input_tokens`: the whole input is the sum of all three.
import type { Reported } from '../../contract/provider.ts'
import { isObject } from '../../lib/json.ts'
import { count, plainUsage, writtenTokens } from '../text/usage.ts'

export function readUsage(raw: unknown): Reported {
  if (!isObject(raw)) return { usage: undefined, raw: raw ?? undefined }
  const fresh = count(raw['input_tokens'])
  const read = count(raw['cache_read_input_tokens'] ?? 0)
  const written = count(writtenTokens(raw))
  const whole =
    fresh === undefined || read === undefined || written === undefined
      ? undefined
      : fresh + read + written
  return plainUsage(raw, whole, count(raw['output_tokens']), read, written)
}

/** Later events of a stream know better; what they leave out or null stays. */
export function mergeUsage(known: unknown, news: unknown): unknown {
  if (!isObject(news)) return known
  const said = Object.entries(news).filter(([, value]) => value !== null)
  return { ...(isObject(known) ? known : {}), ...Object.fromEntries(said) }
}
