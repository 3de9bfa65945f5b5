// Traffic as the admin API adds it up, made ready for cards and bars.
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../lib/api.ts'
import type { UsageRow } from '../usage/usage.ts'
import type { TrafficRow } from './traffic-row.ts'

export type { TrafficRow }

export type Range = 'day' | 'week' | 'month'
const hourMs = 3_600_000
export const spans: Readonly<Record<Range, { hours: number; by: 'hour' | 'day' }>> = {
  day: { hours: 24, by: 'hour' },
  week: { hours: 7 * 24, by: 'hour' },
  month: { hours: 30 * 24, by: 'day' },
}

/** Whole hours, so that everybody asks the same question. */
function boundsOf(range: Range): { from: string; to: string } {
  const toMs = Math.ceil(Date.now() / hourMs) * hourMs
  const fromMs = toMs - spans[range].hours * hourMs
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() }
}

export function useTraffic(range: Range, by: string, everyMs = 10_000) {
  return useQuery({
    queryKey: ['traffic', range, by],
    queryFn: () =>
      ask<{ items: TrafficRow[] }>('GET', '/traffic', { query: { ...boundsOf(range), by } }),
    refetchInterval: everyMs,
  })
}

export interface Column {
  label: string
  ok: number
  client: number
  server: number
}

/** The moments of all columns, oldest first. */
function momentsOf(range: Range): number[] {
  const { hours, by } = spans[range]
  const stepMs = by === 'hour' ? hourMs : 24 * hourMs
  const lastMs = Math.floor(Date.now() / stepMs) * stepMs
  const count = (hours * hourMs) / stepMs
  return Array.from({ length: count }, (_, i) => lastMs - (count - 1 - i) * stepMs)
}

/** What was charged in each; for drawing only. */
export function spendOf(range: Range, rows: readonly UsageRow[]): number[] {
  const { by } = spans[range]
  const spent = new Map(rows.map((row) => [Date.parse(row[by] ?? ''), Number(row.amount)]))
  return momentsOf(range).map((atMs) => spent.get(atMs) ?? 0)
}

/** One column for every hour or day, also for those in which nothing happened. */
export function columnsOf(
  range: Range,
  rows: readonly TrafficRow[],
  label: (at: string) => string,
) {
  const { by } = spans[range]
  const columns = new Map(
    momentsOf(range).map((atMs): [number, Column] => [
      atMs,
      { label: label(new Date(atMs).toISOString()), ok: 0, client: 0, server: 0 },
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
