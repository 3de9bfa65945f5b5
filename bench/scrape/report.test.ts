import { expect, test } from 'bun:test'
import { checkScrapes, formatScrapes, type ScrapeSlice, summariseScrapes } from './report.ts'

const quiet: ScrapeSlice = { scrapes: 0, served: 1000, failed: 0, cpuMicros: 100_000 }
const scraped: ScrapeSlice = {
  scrapes: 50,
  served: 900,
  failed: 0,
  cpuMicros: 190_000,
  medianMs: 8,
}
const text = '# HELP a b\n# TYPE a counter\na{x="1"} 1\na{x="2"} 2\n'

test('a scrape costs what the load alone does not', () => {
  const figures = summariseScrapes([[quiet, scraped]], text)
  // 900 calls at 100 us are 90 ms; the other 100 ms are those of 50 scrapes.
  expect(figures).toMatchObject({ cpuMs: 2, medianMs: 8, series: 2, scrapes: 50, failed: 0 })
})

test('five milliseconds are allowed, and nothing may fail', () => {
  const figures = summariseScrapes([[quiet, scraped]], text)
  expect(checkScrapes(figures)[0]!.met).toBe(true)
  expect(checkScrapes({ ...figures, cpuMs: 5.1 })[0]!.met).toBe(false)
  expect(checkScrapes({ ...figures, failed: 1 })[0]!.met).toBe(false)
  expect(checkScrapes({ ...figures, scrapes: 0 })[0]!.met).toBe(false)
})

test('the table has one row', () => {
  const lines = formatScrapes(summariseScrapes([[quiet, scraped]], text)).split('\n')
  expect(lines).toHaveLength(3)
  expect(lines[2]).toMatch(/ 2 +8$/)
})
