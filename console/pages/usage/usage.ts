// Usage as the admin API adds it up, grouped for a chart: the largest groups, and the rest as one.
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../lib/api.ts'

export interface UsageRow {
  hour?: string
  day?: string
  month?: string
  model?: string | null
  token?: string | null
  account?: string | null
  unit: string | null
  tier?: string | null
  charges: number
  amount: string
  quantity: number | null
  input_tokens?: number
  output_tokens?: number
}

export const measures = ['amount', 'charges', 'input_tokens', 'output_tokens', 'quantity'] as const
export type Measure = (typeof measures)[number]
export const groups = ['model', 'account', 'token', 'unit', 'tier'] as const
export type Group = (typeof groups)[number]
export const rollUps = ['hour', 'day', 'month'] as const
export type RollUp = (typeof rollUps)[number]
export const ranges = [1, 7, 30, 90, 365] as const

const hourMs = 3_600_000
const dayMs = 24 * hourMs

export interface Period {
  from: string
  to: string
}

/** The last so many days, or the same stretch before them. */
export function periodOf(days: number, back = 0): Period {
  const untilMs = Math.ceil(Date.now() / hourMs) * hourMs - back * days * dayMs
  return {
    from: new Date(untilMs - days * dayMs).toISOString(),
    to: new Date(untilMs).toISOString(),
  }
}

export const useUsage = (period: Period, by: string, isWanted = true) =>
  useQuery({
    queryKey: ['usage', period, by],
    queryFn: () =>
      ask<{ items: UsageRow[]; total: UsageRow }>('GET', '/usage', { query: { ...period, by } }),
    enabled: isWanted,
  })

/** For drawing and ranking only; what is shown of money is its text. */
export const measured = (row: UsageRow, measure: Measure): number => Number(row[measure] ?? 0)

/** Every hour, day or month of a period, as rows name them. */
export function timesOf({ from, to }: Period, rollUp: RollUp): string[] {
  const [fromMs, untilMs] = [Date.parse(from), Date.parse(to)]
  const stepMs = rollUp === 'hour' ? hourMs : dayMs
  const names: Record<RollUp, (iso: string) => string> = {
    hour: (iso) => `${iso.slice(0, 13)}:00:00Z`,
    day: (iso) => iso.slice(0, 10),
    month: (iso) => iso.slice(0, 7),
  }
  const times = new Set<string>()
  for (let atMs = fromMs; atMs < untilMs; atMs += stepMs) {
    times.add(names[rollUp](new Date(atMs).toISOString()))
  }
  return [...times]
}

export interface Grouped {
  /** Largest first. */
  names: string[]
  /** By name, then by time. */
  values: Map<string, Map<string, number>>
}

/** As many as can be told apart by colour. */
const mostGroups = 7

export function groupRows(
  rows: readonly UsageRow[],
  group: Group,
  rollUp: RollUp,
  measure: Measure,
  other: string,
): Grouped {
  const sums = new Map<string, number>()
  for (const row of rows) {
    const name = row[group] ?? '–'
    sums.set(name, (sums.get(name) ?? 0) + measured(row, measure))
  }
  const ranked = [...sums].sort(([, a], [, b]) => b - a).map(([name]) => name)
  const shown = ranked.slice(0, mostGroups)
  const names = ranked.length > mostGroups ? [...shown, other] : shown
  const values = new Map(names.map((name) => [name, new Map<string, number>()]))
  for (const row of rows) {
    const time = row[rollUp] ?? ''
    const name = row[group] ?? '–'
    const of = values.get(shown.includes(name) ? name : other)!
    of.set(time, (of.get(time) ?? 0) + measured(row, measure))
  }
  return { names, values }
}
