// A price as it is applied: whole nano-units of the currency. One price version per row, never edited.
import type { Source } from './catalog.ts'

export interface TokenRates {
  /** Nano-units per million tokens. */
  inputNanos: bigint
  outputNanos: bigint
  /** Absent: charged as input. */
  cacheReadNanos?: bigint
  cacheWriteNanos?: bigint
}

export interface TokenTier extends TokenRates {
  /** Largest whole input this tier covers; the last tier also takes everything above it. */
  upTo?: number
}

export type PriceTerms =
  | { unit: 'token'; tiers: readonly TokenTier[] }
  | { unit: 'image'; perImageNanos: bigint }
  | { unit: 'video_second'; perSecondNanos: Readonly<Record<string, bigint>> }
  | { unit: 'video_token'; perMillionNanos: bigint }

export interface Price {
  id: string
  model: string
  terms: PriceTerms
  effectiveFromMs: number
  source: Source
}
