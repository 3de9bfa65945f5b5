// Downloads of many readers at once, as a table and verdicts. Pure.
// Refuses to know how anything was measured.

import { type Columns, check, formatRows, megabytes, type Verdict } from '../lib/report.ts'

export interface DownloadFigures {
  readers: 'slow' | 'stopped'
  count: number
  fileBytes: number
  /** Videos that the upstream was sending. */
  reached: number
  failed: number
  baseBytes: number
  /** The largest seen. */
  rssBytes: number
  /** By the slowest reader. */
  minBytes: number
  takenMedianBytes: number
  takenMaxBytes: number
  /** Taken from the upstream in the last seconds, by all readers. */
  grownBytes: number
}

const riseEach = ({ rssBytes, baseBytes, count }: DownloadFigures): number =>
  megabytes(rssBytes - baseBytes) / count

const columns: Columns<DownloadFigures> = {
  readers: (row) => `${row.reached} ${row.readers}`,
  'base MB': (row) => megabytes(row.baseBytes),
  'RSS MB': (row) => megabytes(row.rssBytes),
  'rise MB each': riseEach,
  'read MB min': (row) => megabytes(row.minBytes),
  'taken MB median': (row) => megabytes(row.takenMedianBytes),
  max: (row) => megabytes(row.takenMaxBytes),
  failed: (row) => row.failed,
}

export const formatDownloads = (rows: readonly DownloadFigures[]): string =>
  formatRows(columns, rows)

/** A limit counts as met only if every reader was there and none had the whole file. */
export function checkDownloads(figures: DownloadFigures): Verdict[] {
  const { readers, count, reached, failed, takenMaxBytes, fileBytes } = figures
  const valid = reached === count && failed === 0 && takenMaxBytes < fileBytes
  const rise = check({
    label: `rise of memory by each of ${count} ${readers} readers`,
    value: riseEach(figures),
    limit: '< 3 MB',
    valid,
    ...(!valid && { note: `${reached} reached, ${failed} failed` }),
  })
  const value = megabytes(figures.grownBytes)
  const label = 'taken from the upstream by stopped readers'
  return readers === 'slow' ? [rise] : [rise, check({ label, value, limit: '= 0 MB', valid })]
}
