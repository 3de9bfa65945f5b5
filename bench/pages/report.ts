// How long pages took, list by list, as a table and a verdict. Pure.
// Refuses to know how they were requested.
import { type Columns, check, formatNumber, formatRows, type Verdict } from '../lib/report.ts'
import { percentile } from '../lib/stats.ts'

export interface TimedPage {
  list: string
  path: string
  ms: number
  status: number
  items: number
}

export interface PagesFigures {
  store: string
  rows: number
  fillSeconds: number
  indexSeconds: number
  segments: number
  pages: TimedPage[]
}

const maxPathLength = 76

export function formatPages({ store, pages }: PagesFigures): string {
  const lists = [...Map.groupBy(pages, ({ list }) => list).values()]
  const times = (own: TimedPage[]) => own.map(({ ms }) => ms)
  const columns: Columns<TimedPage[]> = {
    [store]: ([first]) => first!.list,
    pages: (own) => own.length,
    'p50 ms': (own) => percentile(times(own), 0.5),
    'p99 ms': (own) => percentile(times(own), 0.99),
    'worst ms': (own) => percentile(times(own), 1),
    'the worst one': (own) => own.at(-1)!.path.slice(0, maxPathLength),
  }
  return formatRows(
    columns,
    lists.map((own) => own.toSorted((a, b) => a.ms - b.ms)),
  )
}

export const checkPages = ({ store, rows, pages }: PagesFigures): Verdict[] => [
  check({
    label: `any page of any list, ${store}, ${formatNumber(rows)} rows`,
    value: Math.max(...pages.filter(({ list }) => list !== 'traffic').map(({ ms }) => ms)),
    limit: '<= 200 ms',
  }),
]
