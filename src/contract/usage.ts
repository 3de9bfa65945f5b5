// Plain usage: what an upstream did, in the gateway's own words. Never money.

/** Counted text, normalised: `inputTokens` is the whole input, cached and written ones inside it. */
export interface TokenUsage {
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
}
