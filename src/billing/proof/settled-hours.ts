// Sums of money by the hour for charts: days that can no longer change are summed once and cached in
// memory, as hours are too many to read again for every chart.
import type { Tx } from '../../store/index.ts'
import { dayMs } from '../../store/proof/grains.ts'
import { settledUntil } from '../../store/proof/settled.ts'
import { byUnit, type DaysQuery, type MoneySum, sumMoney } from '../../store/proof/totals.ts'

/** Per database; beyond it the whole cache is cleared. */
const maxSums = 100_000

interface Kept {
  sums: number
  days: Map<string, readonly MoneySum[]>
}

const keptBy = new WeakMap<Tx, Kept>()

/** The same as `sumMoney`; `by` must include the hour. */
export async function sumHours(db: Tx, question: DaysQuery): Promise<MoneySum[]> {
  const given = byUnit(question)
  const { accountId, fromMs, untilMs, by, withCosts = false } = given
  if (given.kept !== undefined || given.tokenId !== undefined) return sumMoney(db, given)
  // Without a limit: what is kept must be whole.
  const asked = { accountId, fromMs, untilMs, by, withCosts }
  const kept = keptBy.get(db) ?? { sums: 0, days: new Map() }
  keptBy.set(db, kept)
  const keyAt = (atMs: number) => `${atMs} ${by.join()} ${accountId ?? ''} ${withCosts}`
  const first = Math.ceil(fromMs / dayMs) * dayMs
  const settledMs = Math.min(untilMs, await settledUntil(db))
  const last = Math.max(first, Math.floor(settledMs / dayMs) * dayMs)
  if (first >= untilMs || last === first) return sumMoney(db, asked)
  const days = daysBetween(first, last)
  const missing = days.filter((atMs) => !kept.days.has(keyAt(atMs)))
  const found = await readDays(db, asked, missing)
  const sums = days.flatMap((atMs) => kept.days.get(keyAt(atMs)) ?? found.get(atMs) ?? [])
  for (const atMs of missing) keep(kept, keyAt(atMs), found.get(atMs) ?? [])
  const before = first > fromMs ? await sumMoney(db, { ...asked, untilMs: first }) : []
  const after = untilMs > last ? await sumMoney(db, { ...asked, fromMs: last }) : []
  return [...before, ...sums, ...after].map((sum) => ({ ...sum }))
}

const daysBetween = (first: number, last: number): number[] =>
  Array.from({ length: (last - first) / dayMs }, (_, i) => first + i * dayMs)

/** From the first to the last of them, in one statement. */
async function readDays(db: Tx, asked: DaysQuery, days: readonly number[]) {
  const [first] = days
  if (first === undefined) return new Map<number, MoneySum[]>()
  const sums = await sumMoney(db, { ...asked, fromMs: first, untilMs: days.at(-1)! + dayMs })
  return Map.groupBy(sums, ({ hourMs: ms = 0 }) => ms - (ms % dayMs))
}

function keep(kept: Kept, key: string, sums: readonly MoneySum[]): void {
  kept.sums += sums.length + 1
  if (kept.sums > maxSums) {
    kept.days.clear()
    kept.sums = sums.length + 1
  }
  kept.days.set(key, sums)
}
