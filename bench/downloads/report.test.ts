import { expect, test } from 'bun:test'
import { checkDownloads, type DownloadFigures, formatDownloads } from './report.ts'

const slow: DownloadFigures = {
  readers: 'slow',
  count: 100,
  fileBytes: 300_000_000,
  reached: 100,
  failed: 0,
  baseBytes: 100_000_000,
  rssBytes: 200_000_000,
  minBytes: 12_000_000,
  takenMedianBytes: 20_000_000,
  takenMaxBytes: 30_000_000,
  grownBytes: 90_000_000,
}
const stopped: DownloadFigures = { ...slow, readers: 'stopped', minBytes: 0, grownBytes: 0 }
const met = (figures: DownloadFigures) => checkDownloads(figures).map((verdict) => verdict.met)

test('each reader may cost three megabytes', () => {
  expect(met(slow)).toEqual([true])
  expect(met({ ...slow, rssBytes: 400_000_000 })).toEqual([false])
})

test('a download that failed, never began or is over measures nothing', () => {
  expect(met({ ...slow, failed: 1 })).toEqual([false])
  expect(met({ ...slow, reached: 99 })).toEqual([false])
  expect(met({ ...slow, takenMaxBytes: 300_000_000 })).toEqual([false])
})

test('a stopped reader takes nothing more', () => {
  expect(met(stopped)).toEqual([true, true])
  expect(met({ ...stopped, grownBytes: 1 })).toEqual([true, false])
})

test('the table has a row for each kind of reader', () => {
  const lines = formatDownloads([slow, stopped]).split('\n')
  expect(lines).toHaveLength(4)
  expect(lines[2]).toContain('100 slow')
  expect(lines[2]).toMatch(/ 1 /)
})
