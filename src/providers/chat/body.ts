// The caller's JSON on its way up and the upstream's on its way down. Text is spliced, not rebuilt:
// numbers beyond double precision, key order and unknown fields survive as they came.
import type { TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json.ts'

/** What goes upstream: the mapped model name, and usage asked for on streams. */
export function upstreamBody(call: TextCall, upstreamModel: string): string {
  const needsUsage = call.stream && !call.wantsUsage
  if (needsUsage && call.fields['stream_options'] != null) return rebuilt(call, upstreamModel)
  if (!splices(call.body)) return rebuilt(call, upstreamModel)
  const named = upstreamModel === call.model ? call.body : renamed(call.body, upstreamModel)
  if (named === undefined) return rebuilt(call, upstreamModel)
  if (!needsUsage) return named
  if (call.body.includes('"stream_options"')) return rebuilt(call, upstreamModel)
  return named.replace('{', '{"stream_options":{"include_usage":true},')
}

function rebuilt(call: TextCall, model: string): string {
  const options = call.fields['stream_options']
  return JSON.stringify({
    ...call.fields,
    model,
    ...(call.stream && {
      stream_options: { ...(isObject(options) ? options : {}), include_usage: true },
    }),
  })
}

/**
 * Whether the text names its model once and plainly. Given twice, or spelled with escapes, two
 * parsers could read two models from it, and the one served would not be the one billed.
 */
function splices(text: string): boolean {
  const first = text.indexOf('"model"')
  return first !== -1 && text.indexOf('"model"', first + 1) === -1 && !escapedLetter.test(text)
}

const escapedLetter = /\\u00[4-7]/
const modelKey = /"model"\s*:\s*"(?:[^"\\]|\\.)*"/

/**
 * The text with the value of its only `model` key replaced; undefined when there is no single one.
 * Inside a JSON string every quote is escaped, so `"model"` with bare quotes is always a key or a
 * whole string.
 */
export function renamed(text: string, model: string): string | undefined {
  if (!splices(text)) return undefined
  let done = false
  const out = text.replace(modelKey, () => {
    done = true
    return `"model":${JSON.stringify(model)}`
  })
  return done ? out : undefined
}

/** An answer with the caller's model name in place of the upstream's. */
export function restoreModel(
  text: string,
  parsed: Readonly<Record<string, unknown>>,
  model: string,
): string {
  if (parsed['model'] === model) return text
  return renamed(text, model) ?? JSON.stringify({ ...parsed, model })
}
