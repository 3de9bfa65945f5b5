// A public price file as a price list of this gateway: in its currency, with a margin, rounded, under the
// gateway's names. What cannot be said is told, never guessed.

import { globOf } from '../../lib/text/glob.ts'
import { isPlainName, plainName } from '../../lib/text/plain-name.ts'
import { modelKindRows } from '../catalog.ts'
import { type Decimal, formatDecimal, isZero, times } from './decimal.ts'
import { readLitellm } from './litellm.ts'
import { readModelsDev } from './models-dev.ts'
import {
  type Json,
  objectIn,
  type SourceList,
  type SourcePrice,
  type SourceTokenTerms,
  type SourceUnitTerms,
} from './source.ts'

export const sources = { 'models.dev': readModelsDev, litellm: readLitellm } as const
export type SourceName = keyof typeof sources

/** Amounts have no more decimals. */
export const maxPlaces = 9

export interface Options {
  /** What a price is multiplied by: margin times rate. */
  factor: Decimal
  /** Decimals, 0 to 9. */
  places: number
  /** Patterns of which a model has to fit one; empty: all models. */
  only: readonly string[]
}

interface ListedModel {
  name: string
  kind: SourcePrice['kind']
  interfaces: readonly string[]
  context_window?: number
  max_output_tokens?: number
}

interface ListedTier {
  up_to?: number
  per_million: Readonly<Record<string, string>>
}

interface ListedPrice {
  model: string
  unit: SourcePrice['terms']['unit']
  /** Of characters one amount. */
  per_million?: ListedTier['per_million'] | string
  tiers?: readonly ListedTier[]
  per_call?: Readonly<Record<string, string>>
  service_tiers?: Readonly<Record<string, { factor: string } | Pick<ListedTier, 'per_million'>>>
  geo?: Readonly<Record<string, { factor: string }>>
  hours?: readonly { from: string; to: string; factor: string }[]
  per_image?: string
  per_search?: string
  per_minute?: string
}

export interface Converted {
  models: ListedModel[]
  prices: ListedPrice[]
  /** What was left out or simplified, one line each. */
  remarks: string[]
}

export function convert(file: Json, source: SourceName, options: Options): Converted {
  const all = sources[source](file)
  const list = wanted(all, options.only)
  const remarks = new Remarks()
  for (const pattern of options.only.length > 1 ? options.only : []) {
    if (wanted(all, [pattern]).prices.length === 0) remarks.add('no model fits', pattern)
  }
  for (const { id, reason } of list.skipped) remarks.add(`left out: ${reason}`, id)
  const converted: Converted = { models: [], prices: [], remarks: [] }
  for (const price of oneByName(list.prices, remarks)) {
    const listed = listedOf(price, options)
    if (listed === undefined) {
      remarks.add('left out: its price is larger than amounts can be', price.id)
      continue
    }
    for (const lost of price.lost) remarks.add(`not carried: ${lost}`, price.id)
    if (isRoundedAway(price, listed)) remarks.add('rounded to 0: use more decimals', price.id)
    if (isFree(price)) remarks.add('costs nothing there, and so would it here', price.id)
    converted.models.push(modelOf(price))
    converted.prices.push(listed)
  }
  return { ...converted, remarks: remarks.lines() }
}

function wanted({ prices, skipped }: SourceList, only: readonly string[]): SourceList {
  if (only.length === 0) return { prices, skipped }
  const globs = only.map((pattern) => globOf(pattern))
  const fits = (name: string) => globs.some((isFit) => isFit(name))
  return {
    prices: prices.filter(({ id, model }) => fits(id) || fits(model) || fits(plainName(model))),
    skipped: skipped.filter(({ id }) => fits(id) || fits(id.slice(id.indexOf('/') + 1))),
  }
}

/** Resellers list the same model under the same name: the maker's price is taken. */
function oneByName(prices: readonly SourcePrice[], remarks: Remarks): SourcePrice[] {
  const named = Map.groupBy(prices, ({ model }) => plainName(model))
  const chosen: SourcePrice[] = []
  for (const [name, same] of named) {
    if (!isPlainName(name)) {
      for (const { id } of same) remarks.add('left out: no name can be made of it', id)
      continue
    }
    const [first, ...others] = same.toSorted((a, b) => a.rank - b.rank)
    chosen.push(first!)
    for (const { id } of others) {
      remarks.add(
        'left out: another provider of the same model is listed; filter by provider to take it',
        id,
      )
    }
  }
  return chosen.toSorted((a, b) => (plainName(a.model) < plainName(b.model) ? -1 : 1))
}

const modelOf = ({ model, kind, contextWindow, maxOutputTokens }: SourcePrice): ListedModel => ({
  name: plainName(model),
  kind,
  interfaces: modelKindRows[kind].interfaces,
  ...(contextWindow !== undefined && { context_window: contextWindow }),
  ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
})

type Amount = (value: Decimal) => string | undefined

/** Undefined: an amount is too large. */
function listedOf({ model, terms }: SourcePrice, options: Options): ListedPrice | undefined {
  let isTooLarge = false
  const amount: Amount = (value) => {
    const text = formatDecimal(times(value, options.factor), options.places)
    if (text === undefined) isTooLarge = true
    return text
  }
  const name = plainName(model)
  const { unit } = terms
  const listed: ListedPrice = {
    ...{ model: name, unit },
    ...(unit === 'token' ? tokenTerms(terms, amount) : unitTerms(terms, amount)),
  }
  return isTooLarge ? undefined : listed
}

/** The field of a unit, and its amount. */
function unitAmount(terms: SourceUnitTerms): [keyof ListedPrice, Decimal] | undefined {
  switch (terms.unit) {
    case 'image':
      return ['per_image', terms.perImage]
    case 'search':
      return ['per_search', terms.perSearch]
    case 'character':
      return ['per_million', terms.perMillion]
    case 'audio_second':
      return ['per_minute', terms.perMinute]
    case 'free':
      return undefined
  }
}

function unitTerms(terms: SourceUnitTerms, amount: Amount): Partial<ListedPrice> {
  const [name, value] = unitAmount(terms) ?? []
  return name === undefined ? {} : { [name]: amount(value!)! }
}

function tokenTerms(terms: SourceTokenTerms, amount: Amount): Partial<ListedPrice> {
  const { perCall, serviceTiers, geo, hours } = terms
  const tiers = terms.tiers.map(({ upTo, rates }): ListedTier => {
    const per_million = mapped(rates, (rate) => amount(rate)!)
    return upTo === undefined ? { per_million } : { up_to: upTo, per_million }
  })
  return {
    ...(tiers.length === 1 ? { per_million: tiers[0]!.per_million } : { tiers }),
    ...(perCall !== undefined && { per_call: mapped(perCall, (each) => amount(each)!) }),
    ...(serviceTiers !== undefined && {
      service_tiers: mapped(serviceTiers, (tier) =>
        'factor' in tier
          ? { factor: factorText(tier.factor) }
          : { per_million: mapped(tier.rates, (rate) => amount(rate)!) },
      ),
    }),
    ...(geo !== undefined && { geo: mapped(geo, (factor) => ({ factor: factorText(factor) })) }),
    ...(hours !== undefined && {
      hours: hours.map((each) => ({ ...each, factor: factorText(each.factor) })),
    }),
  }
}

const mapped = <From, To>(
  record: Readonly<Record<string, From>>,
  to: (value: From) => To,
): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value)]))

/** A factor is no amount: neither margin nor rate multiply it. */
const factorText = (factor: Decimal): string =>
  (formatDecimal(factor, maxPlaces) ?? '1').replace(/0+$/, '').replace(/\.$/, '')

const free: Decimal = { digits: 0n, scale: 0 }

function isFree({ terms }: SourcePrice): boolean {
  if (terms.unit !== 'token') return isZero(unitAmount(terms)?.[1] ?? free)
  return terms.tiers.every(({ rates }) => isZero(rates.input) && isZero(rates.output))
}

type Rates = ListedTier['per_million']

/** An amount that was above 0 and no longer is. */
function isRoundedAway({ terms }: SourcePrice, listed: ListedPrice): boolean {
  if (terms.unit !== 'token') {
    const [name, value] = unitAmount(terms) ?? []
    return name !== undefined && !isZero(value!) && listed[name] === '0.00'
  }
  const isLost = (
    was: Readonly<Record<string, Decimal>> = {},
    is: Readonly<Record<string, string>> = {},
  ) => Object.entries(was).some(([name, value]) => !isZero(value) && is[name] === '0.00')
  if (isLost(terms.perCall, listed.per_call)) return true
  const own = Object.entries(terms.serviceTiers ?? {}).some(([name, tier]) => {
    const shown = listed.service_tiers?.[name]
    return (
      'rates' in tier && shown && 'per_million' in shown && isLost(tier.rates, shown.per_million)
    )
  })
  const shown = listed.tiers ?? [{ per_million: objectIn(listed.per_million) as Rates }]
  return own || terms.tiers.some(({ rates }, at) => isLost(rates, shown[at]?.per_million))
}

/** Models with the same remark share a line. */
class Remarks {
  readonly #ids = new Map<string, string[]>()

  add(remark: string, id: string): void {
    const ids = this.#ids.get(remark) ?? []
    ids.push(id)
    this.#ids.set(remark, ids)
  }

  lines(): string[] {
    return [...this.#ids].map(([remark, ids]) => `${remark}: ${ids.join(', ')}`)
  }
}
