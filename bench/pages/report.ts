// How long pages took, list by list, and whether that is soon enough. Refuses to know how they were
// asked for.
import { percentile } from '../lib/stats.ts'
import { formatNumber, formatTable } from '../lib/table.ts'
import type { Verdict } from '../lib/verdict.ts'

export interface AskedPage {
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
  pages: AskedPage[]
}

const mostMs = 200
const longestPath = 76

export function formatPages({ store, pages }: PagesFigures): string {
  const heading = [store, 'pages', 'p50 ms', 'p99 ms', 'worst ms', 'the worst one']
  const lists = [...new Set(pages.map(({ list }) => list))]
  const rows = lists.map((list) => {
    const own = pages.filter((page) => page.list === list).toSorted((a, b) => a.ms - b.ms)
    const times = own.map(({ ms }) => ms)
    const worst = own.at(-1)!
    const cells = [percentile(times, 0.5), percentile(times, 0.99), worst.ms].map(formatNumber)
    return [list, String(own.length), ...cells, worst.path.slice(0, longestPath)]
  })
  return formatTable([heading, ...rows], [0, 5])
}

export function judgePages({ store, rows, pages }: PagesFigures): Verdict[] {
  const times = pages.filter(({ list }) => list !== 'traffic').map(({ ms }) => ms)
  const worst = Math.max(...times)
  return [
    {
      what: `any page of any list, ${store}, ${formatNumber(rows)} rows`,
      limit: `${mostMs} ms`,
      measured: `${formatNumber(worst)} ms`,
      met: worst <= mostMs,
    },
  ]
}
