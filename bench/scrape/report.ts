// What a scrape of the metrics costs under full load, as a table and a verdict. Pure.
// Refuses to know how anything was measured.

import { type Columns, check, formatRows, type Verdict } from '../lib/report.ts'
import { median } from '../lib/stats.ts'

/** One stretch of load; without scrapes it is the cost of the load alone. */
export interface ScrapeSlice {
  scrapes: number
  served: number
  failed: number
  cpuMicros: number
  /** Latency of one scrape; absent without scrapes. */
  medianMs?: number
}

interface ScrapeFigures {
  /** Lines of the text. */
  series: number
  bytes: number
  /** CPU of one scrape, without the load. */
  cpuMs: number
  medianMs: number
  scrapes: number
  failed: number
}

/** Pairs of slices, one without scrapes and one with them, in turn. */
export function summariseScrapes(
  pairs: readonly (readonly [quiet: ScrapeSlice, scraped: ScrapeSlice])[],
  text: string,
): ScrapeFigures {
  const costs = pairs.map(([quiet, scraped]) => {
    const loadMicros = (quiet.cpuMicros / quiet.served) * scraped.served
    return (scraped.cpuMicros - loadMicros) / scraped.scrapes / 1000
  })
  return {
    series: text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length,
    bytes: Buffer.byteLength(text),
    cpuMs: median(costs),
    medianMs: median(pairs.flatMap(([, { medianMs }]) => medianMs ?? [])),
    scrapes: pairs.reduce((sum, [, { scrapes }]) => sum + scrapes, 0),
    failed: pairs.flat().reduce((sum, { failed }) => sum + failed, 0),
  }
}

const columns: Columns<ScrapeFigures> = {
  scrapes: (row) => row.scrapes,
  series: (row) => row.series,
  bytes: (row) => row.bytes,
  'CPU ms each': (row) => row.cpuMs,
  'answered in ms': (row) => row.medianMs,
}

export const formatScrapes = (figures: ScrapeFigures): string => formatRows(columns, [figures])

export const checkScrapes = ({ cpuMs, scrapes, failed }: ScrapeFigures): Verdict[] => [
  check({
    label: 'CPU of a scrape under full load',
    value: cpuMs,
    limit: '<= 5 ms',
    valid: scrapes > 0 && failed === 0,
  }),
]
