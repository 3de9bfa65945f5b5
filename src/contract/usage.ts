// Plain usage: what an upstream did, in the gateway's own words. Never money.

/** Counted text, normalised: `inputTokens` is the whole input, cached and written ones inside it. */
export interface TokenUsage {
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
}

/** The same as an upstream reported it. A side it left out is counted by the gateway. */
export interface ReportedUsage extends Pick<TokenUsage, 'cacheReadTokens' | 'cacheWriteTokens'> {
  inputTokens: number | undefined
  outputTokens: number | undefined
}
