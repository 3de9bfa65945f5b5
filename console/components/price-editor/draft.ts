// A draft of a price in the words in which one is declared, while it is typed: amounts may be empty.
import { type ModelKind, modelKindRows } from '../../../src/contract/catalog.ts'
import type { Terms } from '../../lib/resources/price.ts'

type DraftRates = Readonly<Record<string, string | undefined>>

export interface DraftTier {
  up_to?: number
  per_million: DraftRates
}

export const rateNames = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'input_audio',
  'input_image',
  'output_audio',
  'output_image',
] as const
export const imageSizes = ['1k', '2k', '4k'] as const

/** The units that a model of a kind is priced in. */
export const unitsOf = (kind: string): readonly string[] => modelKindRows[kind as ModelKind].units

/** Units with one amount, and the name of its field. */
export const amountFields: Readonly<Record<string, string>> = {
  video_token: 'per_million',
  search: 'per_search',
  character: 'per_million',
  audio_second: 'per_minute',
}

/** A price with nothing filled in. */
export function emptyTerms(unit: string): Terms {
  if (unit === 'image') return { unit, per_image: '' }
  if (unit === 'video_second') return { unit, per_second: { '720p': '' } }
  const field = amountFields[unit]
  if (field !== undefined) return { unit, [field]: '' }
  if (unit === 'free') return { unit }
  return { unit, per_million: { input: '', output: '' } }
}

/** One tier is a price without tiers. */
export const tiersOf = ({ tiers, per_million }: Terms): readonly DraftTier[] =>
  (tiers as readonly DraftTier[] | undefined) ?? [{ per_million: per_million as DraftRates }]

export function withTiers(terms: Terms, tiers: readonly DraftTier[]): Terms {
  const { tiers: _, per_million: __, ...rest } = terms
  const [only] = tiers
  const { unit, ...others } = rest
  if (tiers.length === 1) return { unit, per_million: only!.per_million, ...others }
  return { unit, tiers, ...others }
}

/** The last tier in two: the new one takes what is above its bound. */
export function withOneMore(tiers: readonly DraftTier[]): DraftTier[] {
  const last = tiers.at(-1)!
  const below = tiers.at(-2)?.up_to
  const bound = last.up_to ?? (below === undefined ? 32_000 : below * 4)
  return [...tiers.slice(0, -1), { ...last, up_to: bound }, { per_million: last.per_million }]
}

/** An optional rate that is empty is left out. */
export function withRate(rates: DraftRates, name: string, value: string): DraftRates {
  const { [name]: _, ...others } = rates
  const isOptional = name !== 'input' && name !== 'output'
  const next = { ...others, ...((value !== '' || !isOptional) && { [name]: value }) }
  return Object.fromEntries(
    rateNames.filter((each) => next[each] !== undefined).map((each) => [each, next[each]]),
  )
}

/** Pairs as they stand in the form; none is no field at all. */
export function withPairs(
  terms: Terms,
  field: string,
  pairs: readonly (readonly [name: string, amount: string])[],
): Terms {
  const { [field]: _, ...rest } = terms
  return pairs.length === 0 ? rest : { ...rest, [field]: Object.fromEntries(pairs) }
}

export function withHours(terms: Terms, hours: unknown): Terms {
  const { hours: _, ...rest } = terms
  return hours === undefined ? rest : { ...rest, hours }
}
