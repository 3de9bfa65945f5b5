// A price as cells of a table: the amounts that have a column, and how much there is besides. Pure.
import type { Price, Rates } from './price.ts'

export const cellNames = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'image',
  'second',
] as const
export type CellName = (typeof cellNames)[number]

const folds = [
  'tiers',
  'sizes',
  'resolutions',
  'other_rates',
  'tools',
  'service_tiers',
  'places',
  'hours',
] as const
type Fold = (typeof folds)[number]

const singleUnits = ['search', 'character', 'audio_second', 'free', 'default'] as const
type SingleUnit = (typeof singleUnits)[number]

type Shown = Omit<Price, 'id' | 'account' | 'current' | 'state' | 'source' | 'created_by'>

interface PriceCells {
  amounts: Readonly<Partial<Record<CellName, string>>>
  /** A price in a unit that has no column, such as minutes; without an amount the unit says all. */
  single?: { unit: SingleUnit; amount?: string }
  /** What has no column of its own, and how many there are. */
  folded: readonly (readonly [Fold, number])[]
}

/** Of several tiers, sizes or resolutions the first one has the column; the others are folded. */
export function cellsOf(price: Shown): PriceCells {
  const unit = singleUnits.find((each) => each === price.unit)
  const rates =
    unit === undefined ? (price.tiers?.[0]?.per_million ?? price.per_million) : undefined
  const sizes = typeof price.per_image === 'object' ? amountsIn(price.per_image) : []
  const resolutions = amountsIn(price.per_second ?? {})
  const ofRates: Partial<Rates> = typeof rates === 'object' ? rates : {}
  const amounts = {
    input: ofRates.input,
    // Tokens of a video are what comes out.
    output: typeof rates === 'string' ? rates : ofRates.output,
    cache_read: ofRates.cache_read,
    cache_write: ofRates.cache_write,
    image: typeof price.per_image === 'string' ? price.per_image : sizes[0],
    second: resolutions[0],
  }
  const counts: Record<Fold, number> = {
    tiers: price.tiers?.length ?? 0,
    sizes: several(sizes.length),
    resolutions: several(resolutions.length),
    other_rates: Object.keys(ofRates).filter((name) => !(name in amounts)).length,
    tools: countOf(price.per_call),
    service_tiers: countOf(price.service_tiers),
    places: countOf(price.geo),
    hours: price.hours?.length ?? 0,
  }
  return {
    amounts: Object.fromEntries(
      Object.entries(amounts).filter(([, amount]) => amount !== undefined),
    ),
    ...(unit !== undefined && { single: { unit, ...amountOf(price) } }),
    folded: folds.map((name) => [name, counts[name]] as const).filter(([, n]) => n > 0),
  }
}

/** Of a unit that has one amount for all. */
function amountOf({ per_search, per_minute, per_million }: Shown): { amount?: string } {
  const amount = per_search ?? per_minute ?? per_million
  return typeof amount === 'string' ? { amount } : {}
}

const amountsIn = (amounts: Readonly<Record<string, string | undefined>>): string[] =>
  Object.values(amounts).filter((amount) => amount !== undefined)

const several = (count: number): number => (count > 1 ? count : 0)

const countOf = (record: object | undefined): number => Object.keys(record ?? {}).length
