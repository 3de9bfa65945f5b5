// The maximum usage of a text call as sent upstream: sizes its hold, and shows which reported usage
// is implausible.
import { type Model, modelDefaults } from '../../contract/catalog.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { ReportedUsage, TokenUsage } from '../../contract/usage.ts'

export interface TextBounds {
  /** Of the visible input. An upstream that counts differently may report more. */
  readonly inputTokens: number
  /** The model's own maximum. */
  readonly windowTokens: number
  readonly outputTokens: number
}

export function boundsOf(model: Model, call: TextCall): TextBounds {
  const { maxTextTokens, images, isOpen, inputs } = call.inputBound
  const windowTokens = (model.contextWindow ?? modelDefaults.contextWindow) * inputs
  const perImage = model.maxTokensPerImage ?? modelDefaults.maxTokensPerImage
  const visible = Math.min(windowTokens, maxTextTokens + images * perImage)
  const limit = (model.maxOutputTokens ?? modelDefaults.maxOutputTokens) * call.choices
  return {
    inputTokens: isOpen ? windowTokens : visible,
    windowTokens,
    outputTokens: Math.min(limit, call.maxOutputTokens ?? limit),
  }
}

/** Usage with missing sides filled in. */
export function completeUsage(
  reported: ReportedUsage | undefined,
  inputTokens: number,
  outputTokens: () => number,
): TokenUsage {
  if (reported === undefined) {
    return { inputTokens, outputTokens: outputTokens(), cacheReadTokens: 0, cacheWriteTokens: 0 }
  }
  const { cacheReadTokens, cacheWriteTokens } = reported
  return {
    inputTokens: reported.inputTokens ?? Math.max(inputTokens, cacheReadTokens + cacheWriteTokens),
    outputTokens: reported.outputTokens ?? outputTokens(),
    cacheReadTokens,
    cacheWriteTokens,
  }
}

export const isComplete = (usage: ReportedUsage | undefined): boolean =>
  usage?.inputTokens !== undefined && usage.outputTokens !== undefined

/** The same object when the request allows all of it. */
export function withinBounds(usage: TokenUsage, bounds: TextBounds): TokenUsage {
  const { windowTokens, outputTokens: limit } = bounds
  if (usage.inputTokens <= windowTokens && usage.outputTokens <= limit) return usage
  const inputTokens = Math.min(usage.inputTokens, windowTokens)
  const cacheReadTokens = Math.min(usage.cacheReadTokens, inputTokens)
  return {
    inputTokens,
    outputTokens: Math.min(usage.outputTokens, limit),
    cacheReadTokens,
    cacheWriteTokens: Math.min(usage.cacheWriteTokens, inputTokens - cacheReadTokens),
  }
}
