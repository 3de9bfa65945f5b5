// Models and price versions as the admin API shows them, and drafts of new ones.
import type { Price } from '../../../src/admin/catalog/price-schema.ts'
import { api } from '../api.ts'
import { fromWallClock } from '../format/time-zone.ts'

export type { Model } from '../../../src/admin/catalog/model-schema.ts'
export type {
  Price,
  PriceImport as Imported,
  PricePreview as Preview,
  Rates,
} from '../../../src/admin/catalog/price-schema.ts'

/** What a price is, in the words in which one is declared. */
export type Terms = Readonly<Record<string, unknown>>

export function termsOf(
  price: Omit<Price, 'id' | 'account' | 'current' | 'state' | 'source' | 'created_by'>,
): Terms {
  const { unit, per_million, tiers, per_call, service_tiers, geo, hours } = price
  const { per_image, default_size, per_second, per_search, per_minute } = price
  const ofTokens = { unit, per_million, tiers, per_call, service_tiers, geo }
  const ofMedia = { per_image, default_size, per_second, per_search, per_minute }
  const terms = { ...ofTokens, ...ofMedia, hours }
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined))
}

/** Only before it begins. */
export const withdrawPrice = ({ id }: Price) => api('DELETE', `/prices/${id}`)

/** A version that was withdrawn. */
export const restorePrice = (price: Price) => {
  const { model, account, effective_from } = price
  const whose = account === null ? { model } : { model, account }
  return api('POST', '/prices', { body: { ...whose, ...termsOf(price), effective_from } })
}

interface Amount {
  path: readonly (string | number)[]
  value: string
}

/** Every amount of a price, and where in it it stands; factors, hours and places are none. */
export function amountsOf(terms: Terms): Amount[] {
  const found: Amount[] = []
  const walk = (value: unknown, path: readonly (string | number)[]): void => {
    if (typeof value === 'string') found.push({ path, value })
    else if (Array.isArray(value)) for (const [i, each] of value.entries()) walk(each, [...path, i])
    else if (typeof value === 'object' && value !== null) {
      for (const [name, each] of Object.entries(value)) {
        if (name !== 'factor') walk(each, [...path, name])
      }
    }
  }
  const { unit: _, default_size: __, hours: ___, geo: ____, ...rest } = terms
  walk(rest, [])
  return found
}

export function withAmount(terms: Terms, path: Amount['path'], value: string): Terms {
  const copy = structuredClone(terms) as Record<string | number, unknown>
  let at = copy
  for (const step of path.slice(0, -1)) at = at[step] as Record<string | number, unknown>
  at[path.at(-1)!] = value
  return copy
}

const decimal = /^(\d{1,12})(?:\.(\d{1,9}))?$/

/** Times 100 + percent, to the billionth; undefined where one of the two is no number. */
export function raised(amount: string, percent: string): string | undefined {
  const [, sign = '', whole = '', places = ''] =
    /^([+-]?)(\d{1,4})(?:\.(\d{1,4}))?$/.exec(percent) ?? []
  const [, units, fractionText = ''] = decimal.exec(amount) ?? []
  if (whole === '' || units === undefined) return undefined
  const scaled = BigInt(whole + places.padEnd(4, '0'))
  const share = 1_000_000n + (sign === '-' ? -scaled : scaled)
  if (share < 0n) return undefined
  const nanos = (BigInt(units + fractionText.padEnd(9, '0')) * share + 500_000n) / 1_000_000n
  const text = String(nanos).padStart(10, '0')
  const fraction = text.slice(-9).replace(/0+$/, '').padEnd(2, '0')
  return `${text.slice(0, -9)}.${fraction}`
}

/** Every amount of it; undefined when one cannot be. */
export function raisedTerms(terms: Terms, percent: string): Terms | undefined {
  let result = terms
  for (const { path, value } of amountsOf(terms)) {
    const next = raised(value, percent)
    if (next === undefined) return undefined
    result = withAmount(result, path, next)
  }
  return result
}

/** The version a price took over from: the one before it in the same list. */
export function versionBefore(price: Price, versions: readonly Price[]): Price | undefined {
  return versions
    .filter(
      ({ account, effective_from: from, id }) =>
        account === price.account && id !== price.id && from < price.effective_from,
    )
    .sort((a, b) => (a.effective_from < b.effective_from ? 1 : -1))[0]
}

/** How an amount changed, for showing only; undefined where the two prices are not alike. */
export function changesOf(before: Terms, after: Terms): { name: string; share: number }[] {
  const old = new Map(amountsOf(before).map(({ path, value }) => [path.join('.'), Number(value)]))
  return amountsOf(after).flatMap(({ path, value }) => {
    const was = old.get(path.join('.'))
    if (was === undefined || was === 0 || was === Number(value)) return []
    return [{ name: String(path.at(-1)), share: Number(value) / was - 1 }]
  })
}

export interface PriceList {
  format: 'yaml' | 'csv'
  text: string
}

/** Last month, by UTC. */
export function lastMonth(): string {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1))
    .toISOString()
    .slice(0, 7)
}

/** What a field for date and time says by the clock of a zone, as the admin API takes it; undefined: now. */
export const startOf = (text: string, zone: string): { effective_from?: string } =>
  text.trim() === '' ? {} : { effective_from: fromWallClock(text, zone) }
