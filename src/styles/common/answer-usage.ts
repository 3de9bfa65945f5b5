// Token counts of an answer, made consistent: parts never exceed the whole.
import type { AnswerUsage } from './answer.ts'

/** Above every context window. */
const maxCount = 1_000_000_000

/** A valid count, else undefined. */
export const tokenCount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0
    ? Math.min(value, maxCount)
    : undefined

/** The first of the values that is a positive count, else zero. */
export function firstCount(...values: readonly unknown[]): number {
  for (const value of values) {
    const found = tokenCount(value)
    if (found) return found
  }
  return 0
}

/** All of it, with cached and written tokens in the input and reasoning in the output. */
export function consistentUsage(given: AnswerUsage): AnswerUsage {
  const { inputTokens, outputTokens } = given
  const cacheReadTokens = Math.min(given.cacheReadTokens, inputTokens)
  return {
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens: Math.min(given.cacheWriteTokens, inputTokens - cacheReadTokens),
    reasoningTokens: Math.min(given.reasoningTokens, outputTokens),
  }
}
