// Usage of calls that are no conversation: tokens where the upstream counts them, seconds where it counts those.
import type { Reported } from '../../contract/provider.ts'
import { partsWithin, type ReportedUsage, type TokenParts } from '../../contract/usage.ts'
import { isObject } from '../../lib/json/parse.ts'
import { tokenCount } from '../../styles/common/answer-usage.ts'

/** `quantity`: what else the answer says of the units that it is charged by. `isSound`: all output is. */
export function readTokens(raw: unknown, quantity?: number, isSound = false): Reported {
  const said = isObject(raw) ? raw : {}
  const inputTokens = tokenCount(said['input_tokens']) ?? tokenCount(said['prompt_tokens'])
  const outputTokens = tokenCount(said['output_tokens']) ?? tokenCount(said['completion_tokens'])
  const hasNone = inputTokens === undefined && outputTokens === undefined
  if (hasNone && quantity === undefined) return { usage: undefined, raw: raw ?? undefined }
  const usage: ReportedUsage = {
    inputTokens,
    outputTokens,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  }
  if (quantity !== undefined) usage.quantity = quantity
  const parts = partsOf(said, isSound ? outputTokens : undefined)
  const counts = { ...usage, inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 }
  const within = partsWithin(parts, counts)
  if (within !== undefined) usage.parts = within
  return { usage, raw: raw ?? { seconds: quantity } }
}

function partsOf(said: Readonly<Record<string, unknown>>, spoken: number | undefined): TokenParts {
  const details = said['input_token_details'] ?? said['input_tokens_details']
  const audio = isObject(details) ? tokenCount(details['audio_tokens']) : undefined
  return {
    ...(audio !== undefined && { inputAudioTokens: audio }),
    ...(spoken !== undefined && { outputAudioTokens: spoken }),
  }
}
