// The prices in force. A price is never edited: a newer version takes over, and a call keeps the
// version it was admitted with. Declared prices win over the admin API's, those over shipped ones.
import type { Source } from '../contract/catalog.ts'
import type { Price } from '../contract/price.ts'

export interface PriceBook {
  /** The version in force now; undefined means the model cannot be called. */
  current(model: string): Price | undefined
  /** Any version, also one that has been taken over. */
  byId(id: string): Price | undefined
}

const rank: Readonly<Record<Source, number>> = { builtin: 0, api: 1, file: 2 }

/** `declared` says which models still have a price in the file; older ones of theirs fall away. */
export function createPriceBook(
  versions: readonly Price[],
  declared: ReadonlySet<string>,
  nowMs: () => number,
): PriceBook {
  const byId = new Map(versions.map((price) => [price.id, price]))
  const byModel = new Map<string, Price[]>()
  for (const price of versions) {
    if (price.source === 'file' && !declared.has(price.model)) continue
    const list = byModel.get(price.model)
    if (list === undefined) byModel.set(price.model, [price])
    else list.push(price)
  }
  for (const list of byModel.values()) list.sort(newestFirst)
  return {
    current(model) {
      const list = byModel.get(model)
      if (list === undefined) return undefined
      const now = nowMs()
      return list.find((price) => price.effectiveFromMs <= now)
    },
    byId: (id) => byId.get(id),
  }
}

const newestFirst = (a: Price, b: Price): number =>
  rank[b.source] - rank[a.source] || b.effectiveFromMs - a.effectiveFromMs || (a.id < b.id ? 1 : -1)
