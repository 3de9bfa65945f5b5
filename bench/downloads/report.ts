// Downloads of many readers at once, as a table and verdicts. Pure.
// Refuses to know how anything was measured.

import { formatMegabytes, formatTable } from '../lib/table.ts'
import type { Verdict } from '../lib/verdict.ts'

export interface DownloadFigures {
  /** What the readers do. */
  readers: 'slow' | 'stopped'
  count: number
  fileBytes: number
  /** Films that the upstream was sending. */
  reached: number
  failed: number
  baseBytes: number
  /** The largest seen. */
  rssBytes: number
  /** By the reader that got least. */
  leastBytes: number
  takenMedianBytes: number
  takenLargestBytes: number
  /** Taken from the upstream in the last seconds, by all. */
  grownBytes: number
}

const riseLimitBytes = 3_000_000
const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(2)} MB`
const riseEach = ({ rssBytes, baseBytes, count }: DownloadFigures): number =>
  (rssBytes - baseBytes) / count

export function formatDownloads(all: readonly DownloadFigures[]): string {
  const heading = [
    'readers',
    'base MB',
    'RSS MB',
    'rise MB each',
    'read MB least',
    'taken MB median',
    'largest',
    'failed',
  ]
  const rows = all.map((one) => [
    `${one.reached} ${one.readers}`,
    formatMegabytes(one.baseBytes),
    formatMegabytes(one.rssBytes),
    (riseEach(one) / 1_000_000).toFixed(2),
    formatMegabytes(one.leastBytes),
    formatMegabytes(one.takenMedianBytes),
    formatMegabytes(one.takenLargestBytes),
    String(one.failed),
  ])
  return formatTable([heading, ...rows], [0])
}

/** A limit counts as kept only if every reader was there and none had the whole file. */
export function judgeDownloads(figures: DownloadFigures): Verdict[] {
  const { readers, count, reached, failed, takenLargestBytes, fileBytes } = figures
  const held = reached === count && failed === 0 && takenLargestBytes < fileBytes
  const each = riseEach(figures)
  const verdicts: Verdict[] = [
    {
      what: `rise of memory by each of ${count} ${readers} readers`,
      limit: `< ${megabytes(riseLimitBytes)}`,
      measured: held ? megabytes(each) : `${reached} reached, ${failed} failed`,
      met: held && each < riseLimitBytes,
    },
  ]
  if (readers === 'slow') return verdicts
  verdicts.push({
    what: 'taken from the upstream by stopped readers',
    limit: 'nothing more',
    measured: megabytes(figures.grownBytes),
    met: held && figures.grownBytes === 0,
  })
  return verdicts
}
