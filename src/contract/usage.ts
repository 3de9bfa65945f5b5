// Plain usage: what an upstream did, in the gateway's own units. Never money.

/** Calls of tools that the upstream runs itself, such as `web_search`, by name. */
export type ToolCalls = Readonly<Record<string, number>>

/**
 * Token counts, normalised: `inputTokens` is the whole input, including cached and written ones.
 */
export interface TokenUsage {
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
  /** Those of the written ones that are kept for an hour; absent: none. */
  cacheWrite1hTokens?: number
  /** Absent: none. */
  toolCalls?: ToolCalls
}

/** The same as an upstream reported it. The gateway counts a side that is missing. */
export interface ReportedUsage extends Pick<TokenUsage, 'cacheReadTokens' | 'cacheWriteTokens'> {
  inputTokens: number | undefined
  outputTokens: number | undefined
  cacheWrite1hTokens?: number
  /** Those of the output that were not shown; absent: none. */
  reasoningTokens?: number
  toolCalls?: ToolCalls
}
