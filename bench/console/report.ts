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

/** Of the median visit: the first one loads the page's own code as well. */
export const loadedMsOf = ({ visits }: PageFigures): number =>
  median(visits.map(({ loadedMs }) => loadedMs))

const columns: Columns<PageFigures> = {
  page: ({ name }) => name,
  'shown ms': ({ visits }) => median(visits.map(({ shownMs }) => shownMs)),
  'loaded ms': loadedMsOf,
  'worst ms': ({ visits }) => Math.max(...visits.map(({ loadedMs }) => loadedMs)),
  'slowest call ms': (page) => slowestOf(page)?.slowestMs ?? 0,
  which: (page) => slowestOf(page)?.slowest ?? '',
}

export const formatPages = (pages: readonly PageFigures[]): string => formatRows(columns, pages)

export function checkPages(pages: readonly PageFigures[], requests: number): Verdict[] {
  const slowest = pages.toSorted((a, b) => loadedMsOf(a) - loadedMsOf(b)).at(-1)
  return [
    check({
      label: `every page of the console with ${requests} requests`,
      value: slowest === undefined ? Number.NaN : loadedMsOf(slowest) / 1000,
      limit: '< 1 s',
      note: slowest?.name ?? 'no page',
    }),
  ]
}
