// The bounds of a call at a channel that changes its requests: a limit that is taken out limits nothing, and
// what is put in may be counted.
import type { Channel } from '../../contract/catalog.ts'
import type { TextBounds } from './text-bounds.ts'

/** A limit of the output, in one of the styles or as servers of the chat style know it. */
const limits: ReadonlySet<string> = new Set([
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'max_new_tokens'],
  ...['n_predict', 'num_predict'],
])

/** Objects that may hold one, and what has a model reason: it may then write as much as it can. */
const open: ReadonlySet<string> = new Set([
  ...['generationConfig', 'generation_config', 'inferenceConfig', 'options', 'extra_body'],
  ...['additionalModelRequestFields', 'chat_template_kwargs', 'reasoning', 'reasoning_effort'],
  ...['thinking', 'thinkingConfig', 'output_config', 'enable_thinking', 'best_of'],
])

/** The same object where nothing changes. */
export function ruledBounds(bounds: TextBounds, { request }: Channel): TextBounds {
  const body = request?.body
  if (body === undefined) return bounds
  const { inputTokens, windowTokens, modelOutputTokens } = bounds
  let { outputTokens } = bounds
  const names = [...Object.keys(body.set), ...body.remove]
  if (names.some((name) => open.has(name)) || body.remove.some((name) => limits.has(name))) {
    outputTokens = modelOutputTokens
  }
  for (const [name, value] of Object.entries(body.set)) {
    if (!limits.has(name)) continue
    // More than one answer is rare here: each may be as long.
    const isLimit = typeof value === 'number' && value > 0 && outputTokens >= value
    if (!isLimit) outputTokens = modelOutputTokens
  }
  // Every byte may be a token.
  const added = Object.keys(body.set).length === 0 ? 0 : JSON.stringify(body.set).length
  const input = Math.max(inputTokens, Math.min(windowTokens, inputTokens + added))
  if (outputTokens === bounds.outputTokens && input === inputTokens) return bounds
  return { ...bounds, inputTokens: input, outputTokens }
}
