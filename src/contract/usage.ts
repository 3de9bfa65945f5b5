// Plain usage: what an upstream did, in the gateway's own units. Never money.

import type { Applied } from './price.ts'

/** Calls of tools that the upstream runs itself, such as `web_search`, by name. */
export type ToolCalls = Readonly<Record<string, number>>

/** Those of the counts that prices may have a rate of their own for. Parts never exceed their whole. */
export interface TokenParts {
  /** Of the written ones: kept for an hour. */
  cacheWrite1hTokens?: number
  /** Of the input that is neither read from a cache nor written to one. */
  inputAudioTokens?: number
  inputImageTokens?: number
  outputAudioTokens?: number
  outputImageTokens?: number
}

/** A part of the usage that another model than the one that was called has used, and its price. */
export interface OtherUsage extends TokenCounts {
  model: string
  priceId: string
  applied?: Applied
}

/**
 * Token counts, normalised: `inputTokens` is the whole input, including cached and written ones.
 */
export interface TokenCounts {
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
  /** Absent: none. */
  parts?: TokenParts
}

export interface TokenUsage extends TokenCounts {
  /** Searches, characters or seconds, of calls that have them; absent: none. */
  quantity?: number
  /** Absent: none. */
  toolCalls?: ToolCalls
  /** Included in the counts; absent: none. */
  others?: readonly OtherUsage[]
}

/** What an answer says of how it was served, where prices may depend on it. */
export interface ServedAs {
  /** Service tiers, the one that counts first; `standard` and the like are said, too. */
  tiers?: readonly string[]
  /** The place where it ran. */
  geo?: string
}

/** The same as an upstream reported it. The gateway counts a side that is missing. */
export interface ReportedUsage extends Omit<TokenUsage, 'inputTokens' | 'outputTokens' | 'others'> {
  inputTokens: number | undefined
  outputTokens: number | undefined
  /** Those of the output that were not shown; absent: none. */
  reasoningTokens?: number
  /** Included in the counts: what other models used, by the names that the answer has for them. */
  named?: readonly NamedUsage[]
}

export interface NamedUsage extends TokenCounts {
  model: string
}

/** Those that fit into their whole; undefined: none. */
export function partsWithin(
  parts: TokenParts,
  { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: TokenCounts,
): TokenParts | undefined {
  const fresh = inputTokens - cacheReadTokens - cacheWriteTokens
  const inputAudioTokens = Math.min(parts.inputAudioTokens ?? 0, fresh)
  const outputAudioTokens = Math.min(parts.outputAudioTokens ?? 0, outputTokens)
  const counts: [keyof TokenParts, number][] = [
    ['cacheWrite1hTokens', Math.min(parts.cacheWrite1hTokens ?? 0, cacheWriteTokens)],
    ['inputAudioTokens', inputAudioTokens],
    ['inputImageTokens', Math.min(parts.inputImageTokens ?? 0, fresh - inputAudioTokens)],
    ['outputAudioTokens', outputAudioTokens],
    ['outputImageTokens', Math.min(parts.outputImageTokens ?? 0, outputTokens - outputAudioTokens)],
  ]
  const given = counts.filter(([, tokens]) => tokens > 0)
  return given.length === 0 ? undefined : Object.fromEntries(given)
}

export const noTokens: TokenCounts = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
}

export function addCounts(a: TokenCounts, b: TokenCounts): TokenCounts {
  const sum: TokenCounts = {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  }
  if (a.parts === undefined && b.parts === undefined) return sum
  const parts: Record<string, number> = { ...a.parts }
  for (const [name, tokens] of Object.entries(b.parts ?? {})) {
    parts[name] = (parts[name] ?? 0) + tokens
  }
  return { ...sum, parts }
}
