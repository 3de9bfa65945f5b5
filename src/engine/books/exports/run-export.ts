// Writes one export page by page while this gateway holds its lease. Output is stored in chunks;
// the next holder resumes after the last chunk. Never more than a page and a chunk in memory, and
// always a pause between two pages, so that callers are served first.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { csvRow } from '../../../lib/text/csv.ts'
import { gatewayOf } from '../../../store/index.ts'
import { type ExportJob, type Progress, saveProgress } from '../../../store/maintenance/exports.ts'
import type { BaseDeps, Load } from '../../base-deps.ts'
import type { ExportSource } from './source.ts'

export interface ExportLimits {
  /** Of text, before compression. */
  pieceChars: number
  /** Progress is stored at least this often. */
  saveEveryMs: number
  /** The lease of a gateway without heartbeat. */
  leaseMs: number
  /** Minimum pause between two pages; as long as the page took if that is longer. */
  pauseMs: number
  /** Maximum rows of a file; a longer one is cut and says so. */
  maxRows: number
  maxStoredBytes: number
  keepMs: number
}

export const exportLimits: ExportLimits = {
  pieceChars: 1_000_000,
  saveEveryMs: 4_000,
  leaseMs: 20_000,
  pauseMs: 5,
  maxRows: 5_000_000,
  maxStoredBytes: 256 * 1024 * 1024,
  keepMs: 24 * 3_600_000,
}

/** While calls are in flight, the pause is this many times as long as the page took. */
const busyShare = 4
const maxPauseMs = 2_000

const pack = promisify(gzip)

export interface ExportDeps extends BaseDeps {
  readonly load: Load
}

/** `left`: another gateway has it, it is gone, or this gateway stops. */
export async function runExport(
  deps: ExportDeps,
  job: ExportJob,
  source: ExportSource,
  limits: ExportLimits,
  isStopped: () => boolean,
): Promise<'done' | 'left'> {
  const writing = new Writing(deps, job, source, limits)
  const pages = source.pages(job.place, job.rows)
  try {
    await writing.begin()
    for (;;) {
      const beginMs = performance.now()
      const page = await pages.next()
      const went = await writing.add(page.done ? { rows: [] } : page.value)
      if (went !== 'more') return went
      if (isStopped()) return 'left'
      await pause(deps, limits, performance.now() - beginMs)
    }
  } finally {
    await pages.return(undefined)
  }
}

function pause(deps: ExportDeps, { pauseMs }: ExportLimits, tookMs: number): Promise<void> {
  const share = deps.load.running > 0 ? busyShare : 1
  const ms = Math.min(maxPauseMs, Math.max(pauseMs, tookMs * share))
  return new Promise((go) => setTimeout(go, ms))
}

class Writing {
  readonly #deps: ExportDeps
  readonly #source: ExportSource
  readonly #limits: ExportLimits
  /** As stored. */
  #job: ExportJob
  #texts: string[] = []
  #chars = 0
  #rows = 0
  #savedMs: number

  constructor(deps: ExportDeps, job: ExportJob, source: ExportSource, limits: ExportLimits) {
    this.#deps = deps
    this.#job = job
    this.#source = source
    this.#limits = limits
    this.#savedMs = deps.clock.nowMs()
  }

  async begin(): Promise<void> {
    const { chunks, totalRows } = this.#job
    if (totalRows === undefined && chunks === 0) {
      const found = await this.#source.total()
      if (found !== undefined) this.#job = { ...this.#job, totalRows: found }
    }
    // With a UTF-8 byte order mark, without which some spreadsheets assume another encoding.
    if (chunks === 0 && this.#job.format === 'csv') {
      this.#take(`\uFEFF${csvRow(this.#source.columns)}`)
    }
  }

  async add(page: { rows: readonly object[]; next?: string | undefined }) {
    const { maxRows, maxStoredBytes, pieceChars, saveEveryMs } = this.#limits
    const room = maxRows - this.#job.rows - this.#rows
    const rows = page.rows.slice(0, room)
    for (const row of rows) this.#take(this.#textOf(row))
    this.#rows += rows.length
    const isLast = page.next === undefined
    const isFull = this.#job.storedBytes >= maxStoredBytes || page.rows.length > room
    const isEnd = isLast || isFull || room === page.rows.length
    const isOld = this.#deps.clock.nowMs() - this.#savedMs >= saveEveryMs
    if (!isEnd && !isOld && this.#chars < pieceChars) return 'more'
    const isCut = !isLast || page.rows.length > room
    if (!(await this.#save(page.next, isEnd ? { isCut } : undefined))) return 'left'
    return isEnd ? 'done' : 'more'
  }

  #take(text: string): void {
    this.#texts.push(text)
    this.#chars += text.length
  }

  #textOf(row: object): string {
    return this.#job.format === 'csv' ? csvRow(this.#source.cells(row)) : `${JSON.stringify(row)}\n`
  }

  async #save(place: string | undefined, end?: { isCut: boolean }): Promise<boolean> {
    const { clock, store } = this.#deps
    const { leaseMs, keepMs } = this.#limits
    const text = this.#texts.join('')
    const bytes = Buffer.byteLength(text)
    const chunk = bytes === 0 ? undefined : await pack(text)
    const nowMs = clock.nowMs()
    const progress: Progress = {
      place,
      rows: this.#rows,
      bytes,
      totalRows: end === undefined ? this.#job.totalRows : this.#job.rows + this.#rows,
      ...(chunk !== undefined && { chunk }),
      ...(end !== undefined && { end: { atMs: nowMs, expiresAtMs: nowMs + keepMs, ...end } }),
    }
    const claim = { owner: gatewayOf(store), untilMs: nowMs + leaseMs }
    if (!(await store.tx((tx) => saveProgress(tx, this.#job, claim, progress)))) return false
    this.#job = {
      ...this.#job,
      rows: this.#job.rows + this.#rows,
      storedBytes: this.#job.storedBytes + (chunk?.byteLength ?? 0),
      chunks: this.#job.chunks + (chunk === undefined ? 0 : 1),
    }
    this.#texts = []
    this.#chars = 0
    this.#rows = 0
    this.#savedMs = nowMs
    return true
  }
}
