// Daily sums of money for dashboards: days that can no longer change are summed once and cached in
// memory. Bills and proofs do not use it; they query the ledger every time.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import { floorOf, hourMs, type MoneyQuery, type MoneySum, sumMoney } from './hourly-totals.ts'

const dayMs = 24 * hourMs
/** Maximum clock difference of gateways that share a database. */
const doubtMs = hourMs
/** Per database; beyond it the whole cache is cleared. */
const maxSums = 100_000

interface Kept {
  sums: number
  days: Map<string, readonly MoneySum[]>
}

const keptBy = new WeakMap<Kysely<Schema>, Kept>()

export type DaysQuery = Omit<MoneyQuery, 'models'>

interface DailyTotal {
  /** By UTC. */
  atMs: number
  sums: readonly MoneySum[]
}

/** Sums per day; the first and last day only as far as they were requested. */
export async function sumDailyTotals(db: Kysely<Schema>, asked: DaysQuery): Promise<DailyTotal[]> {
  const { accountId = '', fromMs, untilMs, by } = asked
  const settledMs = await settledUntil(db)
  const kept = keptBy.get(db) ?? { sums: 0, days: new Map() }
  keptBy.set(db, kept)
  const keyAt = (atMs: number) => `${atMs} ${by.join()} ${accountId}`
  if (by.includes('hour')) await keepTogether(db, kept, asked, settledMs, keyAt)
  const found: DailyTotal[] = []
  for (let atMs = fromMs - (fromMs % dayMs); atMs < untilMs; atMs += dayMs) {
    const stretch = { fromMs: Math.max(atMs, fromMs), untilMs: Math.min(atMs + dayMs, untilMs) }
    const isSettled = atMs + dayMs <= settledMs && stretch.untilMs - stretch.fromMs === dayMs
    const key = keyAt(atMs)
    let sums = isSettled ? kept.days.get(key) : undefined
    if (sums === undefined) {
      sums = await sumMoney(db, { ...asked, ...stretch })
      if (isSettled) keep(kept, key, sums)
    }
    found.push({ atMs, sums })
  }
  return found
}

/** Rows with an hour can be separated afterwards: reads all missing days at once. */
async function keepTogether(
  db: Kysely<Schema>,
  kept: Kept,
  asked: DaysQuery,
  settledMs: number,
  keyAt: (atMs: number) => string,
): Promise<void> {
  const first = Math.ceil(asked.fromMs / dayMs) * dayMs
  const last = Math.floor(Math.min(asked.untilMs, settledMs) / dayMs) * dayMs
  const missing: number[] = []
  for (let atMs = first; atMs < last; atMs += dayMs) {
    if (!kept.days.has(keyAt(atMs))) missing.push(atMs)
  }
  if (missing.length < 2) return
  const stretch = { fromMs: missing[0]!, untilMs: missing.at(-1)! + dayMs }
  const sums = await sumMoney(db, { ...asked, ...stretch })
  const days = Map.groupBy(sums, ({ hourMs: ms = 0 }) => ms - (ms % dayMs))
  for (const atMs of missing) keep(kept, keyAt(atMs), days.get(atMs) ?? [])
}

function keep(kept: Kept, key: string, sums: readonly MoneySum[]): void {
  kept.sums += sums.length + 1
  if (kept.sums > maxSums) {
    kept.days.clear()
    kept.sums = sums.length + 1
  }
  kept.days.set(key, sums)
}

/** Everything before this moment has been booked, and no more can follow. */
export async function settledUntil(db: Kysely<Schema>): Promise<number> {
  const floor = await floorOf(db)
  const { rows } = await sql<{ booked_ms: number | null; open_ms: number | null }>`
    SELECT (SELECT at_ms FROM entries WHERE id <= ${floor} ORDER BY id DESC LIMIT 1) AS booked_ms,
      (SELECT min(at_ms) FROM entries WHERE id > ${floor}) AS open_ms`.execute(db)
  const { booked_ms: booked, open_ms: open } = rows[0]!
  return Math.min(booked ?? 0, open ?? Number.POSITIVE_INFINITY) - doubtMs
}
