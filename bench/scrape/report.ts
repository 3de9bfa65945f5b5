// What a scrape of the metrics costs under full load, as a table and a verdict. Pure.
// Refuses to know how anything was measured.

import { median } from '../lib/stats.ts'
import { formatNumber, formatTable } from '../lib/table.ts'
import type { Verdict } from '../lib/verdict.ts'

/** One stretch of load; without scrapes it is what the load alone costs. */
export interface ScrapeSlice {
  scrapes: number
  served: number
  failed: number
  cpuMicros: number
  /** Of one scrape, as whoever asks sees it; there when there were any. */
  medianMs?: number
}

export interface ScrapeFigures {
  /** Lines of the text. */
  series: number
  bytes: number
  /** CPU that one scrape costs besides the load. */
  cpuMs: number
  medianMs: number
  scrapes: number
  failed: number
}

const cpuLimitMs = 5

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

export function formatScrapes(figures: ScrapeFigures): string {
  const heading = ['scrapes', 'series', 'bytes', 'CPU ms each', 'answered in ms']
  const row = [
    String(figures.scrapes),
    String(figures.series),
    formatNumber(figures.bytes),
    figures.cpuMs.toFixed(2),
    figures.medianMs.toFixed(1),
  ]
  return formatTable([heading, row], [])
}

export const judgeScrapes = ({ cpuMs, scrapes, failed }: ScrapeFigures): Verdict[] => [
  {
    what: 'CPU of a scrape under full load',
    limit: `${cpuLimitMs} ms`,
    measured: `${cpuMs.toFixed(2)} ms`,
    met: scrapes > 0 && failed === 0 && cpuMs <= cpuLimitMs,
  },
]
