// What upstreams take: the cost of a model at a channel, else a part of the general price. In the ledger's
// currency, by a factor.
import type { Price, PriceTerms } from '../../contract/price.ts'
import { createPriceBook, type PriceBook } from './price-book.ts'

export interface CostTerms {
  terms: PriceTerms
  /** Billionths that all amounts are multiplied by; absent: they are as they are. */
  factorNanos?: bigint
}

/** A model under its name, and under the name of its price. */
interface CostedModel {
  name: string
  pricedAs: string
}

export interface CostBook {
  /** Nothing is known of any cost. */
  readonly isEmpty: boolean
  /** Undefined: not known. */
  find(model: CostedModel, channel: string, atMs: number): CostTerms | undefined
  /** Versions, as of prices; a list belongs to a channel. */
  readonly versions: PriceBook
}

interface CostSources {
  versions: PriceBook
  prices: PriceBook
  hasVersions: boolean
  /** In billionths, by currency. */
  exchange: ReadonlyMap<string, bigint>
  currency: string
  /** In billionths, by channel. */
  factors: ReadonlyMap<string, bigint>
}

export function createCostBook(sources: CostSources): CostBook {
  const { versions, prices, hasVersions, exchange, currency: own, factors } = sources
  /** Made once for each version, as calls ask for it. */
  const known = new Map<Price, CostTerms>()
  const ofVersion = (price: Price): CostTerms | undefined => {
    const found = known.get(price)
    if (found !== undefined) return found
    const { terms, currency = own } = price
    const factorNanos = currency === own ? undefined : exchange.get(currency)
    if (currency !== own && factorNanos === undefined) return undefined
    const made = factorNanos === undefined ? { terms } : { terms, factorNanos }
    known.set(price, made)
    return made
  }
  return {
    versions,
    isEmpty: !hasVersions && factors.size === 0,
    find({ name, pricedAs }, channel, atMs) {
      if (hasVersions) {
        const version =
          versions.listedAt(name, channel, atMs) ??
          (pricedAs === name ? undefined : versions.listedAt(pricedAs, channel, atMs))
        if (version !== undefined) return ofVersion(version)
      }
      const factorNanos = factors.get(channel)
      if (factorNanos === undefined) return undefined
      const general = prices.listed(pricedAs)
      return general === undefined ? undefined : { terms: general.terms, factorNanos }
    },
  }
}

/** Before anything is declared. */
export function noCosts(nowMs: () => number): CostBook {
  const nothing = createPriceBook([], new Set(), nowMs)
  const none = new Map<string, bigint>()
  const empty = { hasVersions: false, exchange: none, currency: '', factors: none }
  return createCostBook({ versions: nothing, prices: nothing, ...empty })
}
