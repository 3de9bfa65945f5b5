// Traffic as the admin API adds it up, prepared for cards and charts: of a period, or of the one before.
import type { TrafficRow } from '../../lib/resources/traffic.ts'
import { type Period, periodOf } from '../../lib/resources/usage.ts'
import { useResource } from '../../lib/use-resource.ts'

export type { TrafficRow }

export type Range = 'day' | 'week' | 'month'
const hourMs = 3_600_000

interface Span {
  days: number
  by: 'hour' | 'day'
  /** Of money: it is told apart by model besides. */
  moneyBy: 'hour' | 'day'
  /** What is told of tasks, in hours. */
  taskHours: number
}

export const spans: Readonly<Record<Range, Span>> = {
  // Of tasks twice as much: the first half is the time before.
  day: { days: 1, by: 'hour', moneyBy: 'hour', taskHours: 48 },
  week: { days: 7, by: 'hour', moneyBy: 'day', taskHours: 336 },
  month: { days: 30, by: 'day', moneyBy: 'day', taskHours: 1_440 },
}

/** All of it in one row. */
export const noGrouping = ','

const liveMs = 10_000
const settledMs = 300_000

/**
 * Whole hours, so that all requests are alike and cached. `back`: so many stretches ago, and asked
 * only when wanted: what is now comes first.
 */
export const useTraffic = (range: Range, by: string, back = 0, isWanted = true) =>
  useTrafficIn(periodOf(spans[range].days, back), by, isWanted)

export function useTrafficIn(period: Period, by: string, isWanted = true) {
  // What is over changes no more.
  const isOver = Date.parse(period.to) < Date.now()
  const refetchMs = isOver ? settledMs : liveMs
  return useResource<{ items: TrafficRow[] }>('/traffic', {
    query: { ...period, by },
    isEarly: true,
    enabled: isWanted,
    refetchInterval: refetchMs,
    staleTime: refetchMs,
  })
}

/** The hours or days of a stretch, oldest first; the first and the last may be parts. */
export function momentsOf(range: Range, by: 'hour' | 'day'): number[] {
  const stepMs = by === 'hour' ? hourMs : 24 * hourMs
  const { from, to } = periodOf(spans[range].days)
  const [firstMs, untilMs] = [Math.floor(Date.parse(from) / stepMs) * stepMs, Date.parse(to)]
  const count = Math.ceil((untilMs - firstMs) / stepMs)
  return Array.from({ length: count }, (_, i) => firstMs + i * stepMs)
}

export interface Column {
  atMs: number
  ok: number
  client: number
  server: number
}

/** One column for every hour or day, also for those in which nothing happened. */
export function bucketsOf(range: Range, rows: readonly TrafficRow[]): Column[] {
  const { by } = spans[range]
  const columns = new Map(
    momentsOf(range, by).map((atMs): [number, Column] => [
      atMs,
      { atMs, ok: 0, client: 0, server: 0 },
    ]),
  )
  for (const row of rows) {
    const column = columns.get(Date.parse(row[by] ?? ''))
    if (column === undefined) continue
    const status = row.status ?? 200
    const kind = status < 400 ? 'ok' : status < 500 ? 'client' : 'server'
    column[kind] += row.requests
  }
  return [...columns.values()]
}

/** The rows of a stretch in their places; none where nothing was asked. */
export function placed(range: Range, rows: readonly TrafficRow[]): (TrafficRow | undefined)[] {
  const { by } = spans[range]
  const found = new Map(rows.map((row) => [Date.parse(row[by] ?? ''), row]))
  return momentsOf(range, by).map((atMs) => found.get(atMs))
}
