// How long usage with cost and margin took, by what it was grouped by. Pure.
// Refuses to know how it was requested.
import { type Columns, check, formatNumber, formatRows, type Verdict } from '../lib/report.ts'
import { median } from '../lib/stats.ts'

export interface TimedUsage {
  by: string
  ms: number
  status: number
  /** In the answer. */
  rows: number
  /** Of all rows together. */
  margin: string
}

export interface MarginFigures {
  store: string
  /** Charged calls. */
  rows: number
  days: number
  fillSeconds: number
  asked: TimedUsage[]
}

const medianOf = (own: readonly TimedUsage[]): number => median(own.map(({ ms }) => ms))

export function formatMargins({ store, asked }: MarginFigures): string {
  const columns: Columns<TimedUsage[]> = {
    [`${store}, by`]: ([first]) => first!.by,
    rows: ([first]) => first!.rows,
    'median ms': medianOf,
    'worst ms': (own) => Math.max(...own.map(({ ms }) => ms)),
  }
  return formatRows(columns, [...Map.groupBy(asked, ({ by }) => by).values()])
}

/** Every grouping of the same calls has the same margin. */
export function checkMargins({ store, rows, asked }: MarginFigures): Verdict[] {
  const ofAll = asked.filter(({ by }) => !by.endsWith(' of one'))
  const groups = [...Map.groupBy(asked, ({ by }) => by).values()]
  return [
    check({
      label: `usage with margin by any grouping, ${store}, ${formatNumber(rows)} charged calls`,
      value: Math.max(...groups.map(medianOf)),
      limit: '<= 300 ms',
    }),
    check({
      label: `different margins over all groupings, ${store}`,
      value: new Set(ofAll.map(({ margin }) => margin)).size,
      limit: '<= 1',
    }),
  ]
}
