// Sums of a page that is bounded, however many names callers have chosen: where there are too many, the
// ones with the largest charges are told apart, and the others are one. The sums always add up.
import { maxTotalNames, otherNames } from '../../contract/totals.ts'
import type { Tx } from '../../store/index.ts'
import { dayMs, hourMs } from '../../store/proof/grains.ts'
import { fieldOf, mergeSums } from '../../store/proof/merge-sums.ts'
import { topNames } from '../../store/proof/top-names.ts'
import {
  type FoldedDimension,
  foldedDimensions,
  type KeptNames,
  type MoneyQuery,
  type MoneySum,
  type sumMoney,
} from '../../store/proof/totals.ts'

/** Sums of one page: about a megabyte of text. */
export const maxSums = 3_000

/** What is read at once, and then folded here: reading it again takes longer. */
const maxRead = 15_000

/** Sums of one key differ by kind and unit. */
const sumsPerKey = 3

export async function sumBounded(
  db: Tx,
  asked: MoneyQuery,
  sum: typeof sumMoney,
): Promise<MoneySum[]> {
  const { by } = asked
  const all = await sum(db, { ...asked, limit: maxRead + 1 })
  if (all.length <= maxSums && !hasManyNames(all)) return all
  const share = shareOf(asked, foldedIn(by).length)
  if (all.length <= maxRead) {
    const fewer = folded(all, by, topAmong(all, by, share - 1))
    return fewer.length <= maxSums ? fewer : folded(all, by, noNames)
  }
  const kept = await keptNames(db, asked, share)
  const fewer = await sum(db, { ...asked, kept, limit: maxSums + 1 })
  // Then by time alone, of which there is so much.
  return fewer.length <= maxSums ? fewer : sum(db, { ...asked, kept: noNames })
}

/** Names that are not kept become one. */
function folded(all: readonly MoneySum[], by: MoneyQuery['by'], kept: KeptNames): MoneySum[] {
  const names = foldedIn(by).map(
    (dimension) => [fieldOf[dimension], new Set(kept[dimension])] as const,
  )
  const renamed = all.map((sum) => {
    const one = { ...sum }
    for (const [field, own] of names) if (!own.has(one[field]!)) one[field] = otherNames
    return one
  })
  return mergeSums(renamed, by)
}

/** Those with the largest charges, as `topNames` finds them. */
function topAmong(all: readonly MoneySum[], by: MoneyQuery['by'], count: number): KeptNames {
  const charges = all.filter(({ kind = 'charge' }) => kind === 'charge')
  const top = (dimension: FoldedDimension): string[] =>
    mergeSums(charges, [dimension])
      .map((sum) => [sum[fieldOf[dimension]]!, sum.amountNanos] as const)
      .sort(([a, ofA], [b, ofB]) => (ofA === ofB ? (a < b ? -1 : 1) : ofA < ofB ? -1 : 1))
      .slice(0, count)
      .map(([name]) => name)
  return Object.fromEntries(foldedIn(by).map((dimension) => [dimension, top(dimension)]))
}

export const noNames: KeptNames = Object.fromEntries(foldedDimensions.map((each) => [each, []]))

/** More than totals of a month have: an older database, or a longer time. */
export const hasManyNames = (sums: readonly MoneySum[]): boolean =>
  sums.length > maxTotalNames && new Set(sums.map(({ model }) => model)).size > maxTotalNames + 1

export const foldedIn = (by: MoneyQuery['by']): FoldedDimension[] =>
  foldedDimensions.filter((dimension) => by.includes(dimension))

/** How many names each of so many dimensions may have, so that a page is not exceeded. */
export function shareOf({ fromMs, untilMs, by }: MoneyQuery, folded: number): number {
  const spanMs = untilMs - fromMs > 31 * dayMs ? dayMs : hourMs
  const times = by.includes('hour') ? Math.ceil((untilMs - fromMs) / spanMs) + 1 : 1
  const share = (maxSums / times / sumsPerKey) ** (1 / Math.max(1, folded))
  return Math.max(1, Math.min(maxTotalNames, Math.floor(share)))
}

/** The largest names of each dimension; one place is for the others. */
export async function keptNames(db: Tx, asked: MoneyQuery, share: number): Promise<KeptNames> {
  const kept: KeptNames = {}
  for (const dimension of foldedIn(asked.by)) {
    kept[dimension] = await topNames(db, dimension, asked, share - 1)
  }
  return kept
}
