// How soon the pages of the console can be used, as a table and a verdict. Pure.
// Refuses to know how anything was measured.

import { percentile } from '../lib/stats.ts'
import { formatNumber, formatTable } from '../lib/table.ts'
import type { Verdict } from '../lib/verdict.ts'

/** One visit: until rows or headings stood there, until every question was answered. */
export interface Visited {
  shownMs: number
  wholeMs: number
  /** The call that took longest, and how long. */
  slowest: string
  slowestMs: number
}

export interface PageFigures {
  name: string
  visits: Visited[]
}

const limitMs = 1_000

const median = (values: readonly number[]): number =>
  percentile(
    values.toSorted((a, b) => a - b),
    0.5,
  )

/** Of the middle visit: the first one loads the page's own code besides. */
export const wholeOf = ({ visits }: PageFigures): number =>
  median(visits.map(({ wholeMs }) => wholeMs))

export function formatPages(pages: readonly PageFigures[]): string {
  const heading = ['page', 'shown ms', 'whole ms', 'worst ms', 'slowest call ms', 'which']
  const rows = pages.map((page) => {
    const slowest = page.visits.toSorted((a, b) => a.slowestMs - b.slowestMs).at(-1)
    return [
      page.name,
      formatNumber(median(page.visits.map(({ shownMs }) => shownMs))),
      formatNumber(wholeOf(page)),
      formatNumber(Math.max(...page.visits.map(({ wholeMs }) => wholeMs))),
      formatNumber(slowest?.slowestMs ?? 0),
      slowest?.slowest ?? '',
    ]
  })
  return formatTable([heading, ...rows], [0, 5])
}

export function judgePages(pages: readonly PageFigures[], requests: number): Verdict[] {
  const slowest = pages.toSorted((a, b) => wholeOf(a) - wholeOf(b)).at(-1)
  return [
    {
      what: `every page of the console with ${requests} requests`,
      limit: `< ${limitMs / 1000} s`,
      measured:
        slowest === undefined
          ? 'no page'
          : `${formatNumber(wholeOf(slowest) / 1000)} s, ${slowest.name}`,
      met: slowest !== undefined && wholeOf(slowest) < limitMs,
    },
  ]
}
