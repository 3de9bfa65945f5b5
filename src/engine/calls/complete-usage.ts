// The usage that a text call is charged for: as the upstream reported it, with missing sides counted,
// and cut to what the request allows.
import type { ReportedUsage, TokenUsage } from '../../contract/usage.ts'
import type { TextBounds } from '../admission/text-bounds.ts'

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
    ...(reported.toolCalls !== undefined && { toolCalls: reported.toolCalls }),
  }
}

export const isComplete = (usage: ReportedUsage | undefined): boolean =>
  usage?.inputTokens !== undefined && usage.outputTokens !== undefined

type Bounds = Pick<TextBounds, 'windowTokens' | 'outputTokens'>

/** The same object when the request allows all of it. */
export function withinBounds(usage: TokenUsage, bounds: Bounds): TokenUsage {
  const { windowTokens, outputTokens: maxOutput } = bounds
  if (usage.inputTokens <= windowTokens && usage.outputTokens <= maxOutput) return usage
  const inputTokens = Math.min(usage.inputTokens, windowTokens)
  const cacheReadTokens = Math.min(usage.cacheReadTokens, inputTokens)
  return {
    inputTokens,
    outputTokens: Math.min(usage.outputTokens, maxOutput),
    cacheReadTokens,
    cacheWriteTokens: Math.min(usage.cacheWriteTokens, inputTokens - cacheReadTokens),
    ...(usage.toolCalls !== undefined && { toolCalls: usage.toolCalls }),
  }
}

export const tokensOf = ({ inputTokens, outputTokens }: TokenUsage): number =>
  inputTokens + outputTokens
