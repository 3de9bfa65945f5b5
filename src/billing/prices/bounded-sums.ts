// Sums of a page that is bounded, however many names callers have chosen: where there are too many, the
// ones with the largest charges are told apart, and the others are one. The sums always add up.
import { maxTotalNames } from '../../contract/totals.ts'
import type { Tx } from '../../store/index.ts'
import { accountDays, topNames } from '../../store/proof/top-names.ts'
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

/** What the database sums at once and then folds: summing again takes longer. */
const maxFolded = 50_000

/** Sums of one key differ by kind and unit. */
const sumsPerKey = 3

export async function sumBounded(
  db: Tx,
  asked: MoneyQuery,
  sum: typeof sumMoney,
  stepMs: number,
): Promise<MoneySum[]> {
  const among = foldedIn(asked.by)
  const share = shareOf(asked, among.length, stepMs)
  let kept = isByDayAndAccount(asked) ? await keptAccounts(db, asked, share) : undefined
  if (kept === undefined) {
    const folded = { among, names: share - 1, above: maxSums, limit: maxFolded }
    const found = await sum(db, { ...asked, folded })
    if (found.length > 0 && found.length <= maxSums && !hasManyNames(found)) return found
    kept = await keptNames(db, asked, share)
  }
  const fewer = await sum(db, { ...asked, kept, limit: maxSums + 1 })
  // Then by time alone, of which there is so much.
  return fewer.length <= maxSums ? fewer : sum(db, { ...asked, kept: noNames })
}

/** Of all accounts, and by nothing that callers name: what the others have is what is left of all. */
const isByDayAndAccount = ({ by, accountId, tokenId }: MoneyQuery): boolean =>
  accountId === undefined &&
  tokenId === undefined &&
  ['hour', 'account'].every((each) => by.some((dimension) => dimension === each)) &&
  foldedIn(by).length === 1

/** Known before anything is summed: of so many accounts and days that sums are the slowest. Undefined: there are few. */
async function keptAccounts(
  db: Tx,
  asked: MoneyQuery,
  share: number,
): Promise<KeptNames | undefined> {
  const accounts = await accountDays(db, asked)
  const sums = accounts.reduce((total, { days }) => total + days, 0)
  return sums > maxSums
    ? { account: accounts.slice(0, share - 1).map(({ name }) => name) }
    : undefined
}

export const noNames: KeptNames = Object.fromEntries(foldedDimensions.map((each) => [each, []]))

/** More than totals of a month have: an older database, or a longer time. */
export const hasManyNames = (sums: readonly MoneySum[]): boolean =>
  sums.length > maxTotalNames && new Set(sums.map(({ model }) => model)).size > maxTotalNames + 1

export const foldedIn = (by: MoneyQuery['by']): FoldedDimension[] =>
  foldedDimensions.filter((dimension) => by.includes(dimension))

/**
 * How many names each of so many dimensions may have, so that a page is not exceeded. `stepMs`: how far apart times are,
 * where they are told apart.
 */
export function shareOf(
  { fromMs, untilMs, by }: MoneyQuery,
  folded: number,
  stepMs: number,
): number {
  const times = by.includes('hour') ? Math.ceil((untilMs - fromMs) / stepMs) + 1 : 1
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
