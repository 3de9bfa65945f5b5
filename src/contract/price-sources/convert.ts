// A public price file as a price list of this gateway: in its currency, with a margin, rounded, under the
// gateway's names. What cannot be said is told, never guessed.

import { globOf } from '../../lib/text/glob.ts'
import { isPlainName, plainName } from '../../lib/text/plain-name.ts'
import { type Decimal, formatDecimal, isZero, times } from './decimal.ts'
import { readLitellm } from './litellm.ts'
import { readModelsDev } from './models-dev.ts'
import type { Json, SourceList, SourcePrice, SourceRates } from './source.ts'

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
  unit: 'token' | 'image'
  per_million?: ListedTier['per_million']
  tiers?: readonly ListedTier[]
  per_call?: Readonly<Record<string, string>>
  per_image?: string
}

export interface Converted {
  models: ListedModel[]
  prices: ListedPrice[]
  /** What was left out or simplified, one line each. */
  remarks: string[]
}

const interfaces: Readonly<Record<SourcePrice['kind'], readonly string[]>> = {
  text: ['chat', 'responses', 'messages', 'generate'],
  embedding: ['embeddings', 'generate'],
  image: ['images'],
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
    for (const lost of price.lost) remarks.add(`simplified: it has ${lost}`, price.id)
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
  interfaces: interfaces[kind],
  ...(contextWindow !== undefined && { context_window: contextWindow }),
  ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
})

function listedOf({ model, terms }: SourcePrice, options: Options): ListedPrice | undefined {
  const amount = (value: Decimal) => formatDecimal(times(value, options.factor), options.places)
  if (terms.unit === 'image') {
    const per_image = amount(terms.perImage)
    return per_image === undefined
      ? undefined
      : { model: plainName(model), unit: 'image', per_image }
  }
  const tiers = terms.tiers.flatMap(({ upTo, rates }): ListedTier[] => {
    const per_million = amounts(rates, amount)
    if (per_million === undefined) return []
    return [upTo === undefined ? { per_million } : { up_to: upTo, per_million }]
  })
  if (tiers.length < terms.tiers.length) return undefined
  const search = terms.webSearch === undefined ? undefined : amount(terms.webSearch)
  return {
    model: plainName(model),
    unit: 'token',
    ...(tiers.length === 1 ? { per_million: tiers[0]!.per_million } : { tiers }),
    ...(search !== undefined && { per_call: { web_search: search } }),
  }
}

function amounts(rates: SourceRates, amount: (value: Decimal) => string | undefined) {
  const pairs = Object.entries(rates).map(([name, value]) => [name, amount(value)] as const)
  return pairs.some(([, value]) => value === undefined)
    ? undefined
    : (Object.fromEntries(pairs) as Record<string, string>)
}

function isFree({ terms }: SourcePrice): boolean {
  if (terms.unit === 'image') return isZero(terms.perImage)
  return terms.tiers.every(({ rates }) => isZero(rates.input) && isZero(rates.output))
}

/** A price that was above 0 and no longer is. */
function isRoundedAway({ terms }: SourcePrice, listed: ListedPrice): boolean {
  if (terms.unit === 'image') return !isZero(terms.perImage) && listed.per_image === '0.00'
  const { webSearch } = terms
  const isCallLost = webSearch !== undefined && !isZero(webSearch)
  if (isCallLost && listed.per_call?.['web_search'] === '0.00') return true
  const shown = listed.tiers ?? [{ per_million: listed.per_million ?? {} }]
  return terms.tiers.some(({ rates }, at) =>
    Object.entries(rates).some(
      ([name, value]) => !isZero(value) && shown[at]?.per_million[name] === '0.00',
    ),
  )
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
