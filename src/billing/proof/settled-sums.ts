// Sums of money for lists of bills: the settled beginning of a period is cached, the rest is read.
import type { Tx } from '../../store/index.ts'
import { hourMs } from '../../store/proof/grains.ts'
import { mergeSums } from '../../store/proof/merge-sums.ts'
import { settledUntil } from '../../store/proof/settled.ts'
import { type DaysQuery, type MoneySum, sumDays } from '../../store/proof/totals.ts'

interface Begun {
  untilMs: number
  sums: readonly MoneySum[]
}

/** Maximum cached prefixes; beyond it the cache is cleared. */
const maxBegun = 10_000
const begunBy = new WeakMap<Tx, Map<string, Begun>>()

/**
 * The same as `sumDays`, for a period that is queried often: its settled prefix is cached. Many such sums need to
 * know only once what is settled.
 */
export async function sumGrowingMoney(
  db: Tx,
  asked: DaysQuery,
  knownSettledMs?: number,
): Promise<MoneySum[]> {
  const known = begunBy.get(db) ?? new Map<string, Begun>()
  begunBy.set(db, known)
  const { accountId = '', fromMs, untilMs, by } = asked
  const key = `${fromMs} ${by.join()} ${accountId}`
  const settledMs = knownSettledMs ?? (await settledUntil(db))
  const endMs = Math.max(fromMs, Math.min(untilMs, settledMs - (settledMs % hourMs)))
  let begun = known.get(key) ?? { untilMs: fromMs, sums: [] }
  // The cached period with the same start may be longer.
  if (begun.untilMs > endMs) begun = { untilMs: fromMs, sums: [] }
  if (endMs > begun.untilMs) {
    const grown = await sumDays(db, { ...asked, fromMs: begun.untilMs, untilMs: endMs })
    begun = { untilMs: endMs, sums: mergeSums([...begun.sums, ...grown], by) }
    if (known.size >= maxBegun) known.clear()
    known.set(key, begun)
  }
  if (begun.untilMs >= untilMs) return begun.sums.map((sum) => ({ ...sum }))
  const rest = await sumDays(db, { ...asked, fromMs: begun.untilMs })
  return mergeSums([...begun.sums, ...rest], by)
}
