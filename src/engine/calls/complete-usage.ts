// The usage that a text call is charged for: as the upstream reported it, with missing sides counted,
// and without what neither the request nor the answer explains.
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
    ...(reported.cacheWrite1hTokens !== undefined && {
      cacheWrite1hTokens: reported.cacheWrite1hTokens,
    }),
    ...(reported.toolCalls !== undefined && { toolCalls: reported.toolCalls }),
  }
}

export const isComplete = (usage: ReportedUsage | undefined): boolean =>
  usage?.inputTokens !== undefined && usage.outputTokens !== undefined

type Bounds = Pick<TextBounds, 'windowTokens' | 'outputTokens'>

/**
 * The part of the usage that its caller pays; the same object when that is all. Output above the bound is
 * paid as far as it was reported as reasoning or delivered as text, by the gateway's own count.
 */
export function payable(
  usage: TokenUsage,
  bounds: Bounds,
  reported: ReportedUsage | undefined,
  countOutputTokens: () => number,
): TokenUsage {
  const { windowTokens, outputTokens: maxOutput } = bounds
  const isOver = usage.outputTokens > maxOutput
  if (usage.inputTokens <= windowTokens && !isOver) return usage
  const given = isOver ? (reported?.reasoningTokens ?? 0) + countOutputTokens() : 0
  const outputTokens = Math.min(usage.outputTokens, Math.max(maxOutput, given))
  if (usage.inputTokens <= windowTokens && outputTokens === usage.outputTokens) return usage
  const inputTokens = Math.min(usage.inputTokens, windowTokens)
  const cacheReadTokens = Math.min(usage.cacheReadTokens, inputTokens)
  const cacheWriteTokens = Math.min(usage.cacheWriteTokens, inputTokens - cacheReadTokens)
  return {
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    ...(usage.cacheWrite1hTokens !== undefined && {
      cacheWrite1hTokens: Math.min(usage.cacheWrite1hTokens, cacheWriteTokens),
    }),
    ...(usage.toolCalls !== undefined && { toolCalls: usage.toolCalls }),
  }
}

export const tokensOf = ({ inputTokens, outputTokens }: TokenUsage): number =>
  inputTokens + outputTokens
