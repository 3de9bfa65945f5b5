// How soon the pages of the console can be used, as a table and a verdict. Pure.
// Refuses to know how anything was measured.

import { type Columns, check, formatRows, type Verdict } from '../lib/report.ts'
import { median } from '../lib/stats.ts'

/** One visit: until rows or headings appeared, until every request was answered. */
export interface Visit {
  shownMs: number
  loadedMs: number
  /** The API call that took longest, and how long. */
  slowest: string
  slowestMs: number
}

export interface PageFigures {
  name: string
  visits: Visit[]
}

const slowestOf = ({ visits }: PageFigures) =>
  visits.toSorted((a, b) => a.slowestMs - b.slowestMs).at(-1)

/** Of the first visit, which loads the page's own code as well. */
const firstMsOf = ({ visits }: PageFigures): number => visits[0]?.loadedMs ?? Number.NaN

/** Of the median visit. */
export const loadedMsOf = ({ visits }: PageFigures): number =>
  median(visits.map(({ loadedMs }) => loadedMs))

const columns: Columns<PageFigures> = {
  page: ({ name }) => name,
  'shown ms': ({ visits }) => median(visits.map(({ shownMs }) => shownMs)),
  'loaded ms': loadedMsOf,
  'first ms': firstMsOf,
  'worst ms': ({ visits }) => Math.max(...visits.map(({ loadedMs }) => loadedMs)),
  'slowest call ms': (page) => slowestOf(page)?.slowestMs ?? 0,
  which: (page) => slowestOf(page)?.slowest ?? '',
}

export const formatPages = (pages: readonly PageFigures[]): string => formatRows(columns, pages)

export const checkPages = (pages: readonly PageFigures[], requests: number): Verdict[] => [
  slowestBy(loadedMsOf, pages, `every page of the console with ${requests} requests`),
  slowestBy(firstMsOf, pages, `first visit of every page with ${requests} requests`),
]

function slowestBy(
  msOf: (page: PageFigures) => number,
  pages: readonly PageFigures[],
  label: string,
): Verdict {
  const slowest = pages.toSorted((a, b) => msOf(a) - msOf(b)).at(-1)
  return check({
    label,
    value: slowest === undefined ? Number.NaN : msOf(slowest) / 1000,
    limit: '< 1 s',
    note: slowest?.name ?? 'no page',
  })
}
