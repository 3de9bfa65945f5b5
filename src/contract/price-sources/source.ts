// What a public price file says of one model, in words that both formats share: US dollars, exact.
import { isObject } from '../../lib/json/parse.ts'
import type { ModelKind } from '../catalog.ts'
import type { RateName } from '../price.ts'
import { type Decimal, parseDecimal } from './decimal.ts'

export type SomeRates = Partial<Record<RateName, Decimal>>
/** Per million tokens. */
export type SourceRates = SomeRates & Record<'input' | 'output', Decimal>
export type SourceTiers = { upTo?: number; rates: SourceRates }[]

export type SourceServiceTier = { factor: Decimal } | { rates: SourceRates }

export interface SourceHours {
  from: string
  to: string
  factor: Decimal
}

export interface SourceTokenTerms {
  unit: 'token'
  tiers: SourceTiers
  perCall?: Readonly<Record<string, Decimal>>
  serviceTiers?: Readonly<Record<string, SourceServiceTier>>
  /** By place: what all rates are multiplied by. */
  geo?: Readonly<Record<string, Decimal>>
  hours?: readonly SourceHours[]
}

/** What is counted otherwise than by tokens. */
export type SourceUnitTerms =
  | { unit: 'image'; perImage: Decimal }
  | { unit: 'search'; perSearch: Decimal }
  | { unit: 'character'; perMillion: Decimal }
  | { unit: 'audio_second'; perMinute: Decimal }
  | { unit: 'free' }

export type SourceTerms = SourceTokenTerms | SourceUnitTerms

export interface SourcePrice {
  /** With the provider: 'openai/gpt-5'. */
  id: string
  /** As the provider names it. */
  model: string
  kind: Exclude<ModelKind, 'video'>
  terms: SourceTerms
  contextWindow?: number
  maxOutputTokens?: number
  /** Its fields that a price here cannot say, with the reason. */
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
