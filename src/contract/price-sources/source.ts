// What a public price file says of one model, in words that both formats share: US dollars, exact.
import { isObject } from '../../lib/json/parse.ts'
import { type Decimal, parseDecimal } from './decimal.ts'

/** Per million tokens. */
export interface SourceRates {
  input: Decimal
  output: Decimal
  cache_read?: Decimal
  cache_write?: Decimal
}

export type SourceTerms =
  | { unit: 'token'; tiers: { upTo?: number; rates: SourceRates }[]; webSearch?: Decimal }
  | { unit: 'image'; perImage: Decimal }

export interface SourcePrice {
  /** With the provider: 'openai/gpt-5'. */
  id: string
  /** As the provider names it. */
  model: string
  kind: 'text' | 'embedding' | 'image'
  terms: SourceTerms
  contextWindow?: number
  maxOutputTokens?: number
  /** What it says and a price here cannot. */
  lost: string[]
  /** Where two have one name, the smaller is taken. */
  rank: number
}

interface SkippedRow {
  id: string
  reason: string
}

export interface SourceList {
  prices: SourcePrice[]
  skipped: SkippedRow[]
}

export type Json = Readonly<Record<string, unknown>>

export const objectIn = (value: unknown): Json => (isObject(value) ? value : {})

/** Numbers are texts here, as they were written. */
export const decimalIn = (value: unknown): Decimal | undefined =>
  typeof value === 'string' ? parseDecimal(value) : undefined

export function wholeIn(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^\d{1,12}$/.test(value)) return undefined
  return Number(value) > 0 ? Number(value) : undefined
}

/** Bounds that the file gives. */
export const boundsOf = (context: unknown, output: unknown) => {
  const [contextWindow, maxOutputTokens] = [wholeIn(context), wholeIn(output)]
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  }
}

/** Cached tokens without a rate of their own are charged as input. */
export function ratesOf(
  input: Decimal,
  output: Decimal,
  read: Decimal | undefined,
  write: Decimal | undefined,
): SourceRates {
  return {
    input,
    output,
    ...(read !== undefined && { cache_read: read }),
    ...(write !== undefined && { cache_write: write }),
  }
}
