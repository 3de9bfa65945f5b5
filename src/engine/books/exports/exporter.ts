// Runs exports one at a time, resumes those that another gateway or an earlier process left
// unfinished, and deletes those past their retention. run-export.ts writes one.

import { Refusal } from '../../../contract/errors.ts'
import { sureNowMs } from '../../../lib/clock.ts'
import { gatewayOf } from '../../../store/index.ts'
import {
  clearExport,
  dropExpired,
  type ExportJob,
  releaseExport,
  takeExport,
} from '../../../store/maintenance/exports.ts'
import { sharedClockMs } from '../../../store/tasks/leases.ts'
import type { Engine } from '../../engine.ts'
import { type ExportLimits, exportLimits, runExport } from './run-export.ts'
import { type ExportSources, isExportKind, readerOf } from './source.ts'

/** Where gateways share a database, one may have left an export unfinished. */
const pollEveryMs = 5_000
const firstMs = 1_000
const tidyEveryMs = 600_000
/** Attempts without progress. */
const maxAttempts = 5
/** Chunks per store transaction. */
const chunksAtOnce = 8

export class Exporter {
  readonly sources: ExportSources
  readonly limits: ExportLimits
  #engine: Engine | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: Promise<void> | undefined
  #isWanted = false
  #closed = false
  #tidiedMs = 0
  #isUnfinished = false

  constructor(sources: ExportSources, limits: Partial<ExportLimits> = {}) {
    this.sources = sources
    this.limits = { ...exportLimits, ...limits }
  }

  start(engine: Engine): void {
    this.#engine = engine
    // Only after the gateway serves its first callers.
    this.#timer = setTimeout(() => this.wake(), firstMs)
    this.#timer.unref()
  }

  /** Wakes the loop: there may be work. */
  wake(): void {
    const engine = this.#engine
    if (this.#closed || engine === undefined) return
    this.#isWanted = true
    if (this.#running !== undefined) return
    clearTimeout(this.#timer)
    this.#running = this.#round(engine).finally(() => {
      this.#running = undefined
      if (this.#closed) return
      if (this.#isWanted) return this.wake()
      // No other gateway can add to a database that is not shared.
      const isAlone = engine.store.cluster === undefined && !this.#isUnfinished
      const afterMs = isAlone ? tidyEveryMs : pollEveryMs
      this.#timer = setTimeout(() => this.wake(), afterMs)
      this.#timer.unref()
    })
  }

  /** Something was deleted. */
  tidySoon(): void {
    this.#tidiedMs = 0
    this.wake()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#running
  }

  async #round(engine: Engine): Promise<void> {
    this.#isWanted = false
    this.#isUnfinished = false
    try {
      const nowMs = engine.clock.nowMs()
      if (nowMs - this.#tidiedMs >= tidyEveryMs) {
        this.#tidiedMs = nowMs
        await this.tidy(engine)
      }
      while (!this.#closed && !engine.draining && (await this.runNext(engine)));
    } catch (error) {
      this.#isUnfinished = true
      engine.log.warn('export round failed', { error })
    }
  }

  /** Drops exports past their retention. */
  async tidy(engine: Engine): Promise<void> {
    const { store, clock } = engine
    const ids = await store.tx((tx) => dropExpired(tx, sureNowMs(clock)))
    for (const id of ids) {
      while (!this.#closed && !(await store.tx((tx) => clearExport(tx, id, chunksAtOnce))));
    }
  }

  /** False when there is nothing to do. */
  async runNext(engine: Engine): Promise<boolean> {
    const { store, clock } = engine
    const owner = gatewayOf(store)
    const nowMs = (await sharedClockMs(store.read, store.dialect)) ?? clock.nowMs()
    const untilMs = nowMs + this.limits.leaseMs
    const job = await store.tx((tx) => takeExport(tx, store.dialect, { owner, nowMs, untilMs }))
    if (job === undefined) return false
    try {
      const problem = await this.#run(engine, job)
      const failed = problem === undefined ? undefined : { error: problem, atMs: clock.nowMs() }
      await store.tx((tx) => releaseExport(tx, job.id, owner, failed))
    } catch (error) {
      // Still ours: retried soon, here or, if this gateway dies, elsewhere.
      engine.log.warn('export failed', { export_id: job.id, error })
      this.#isUnfinished = true
      return false
    }
    return true
  }

  /** A permanent reason why it cannot be written. */
  async #run(engine: Engine, job: ExportJob): Promise<string | undefined> {
    if (job.attempts > maxAttempts) return 'it broke off too often; see the log of the gateway'
    if (!isExportKind(job.kind)) return `there is no list '${job.kind}'`
    const source = await this.sources[job.kind](engine, job.filters, readerOf(job))
    if (source instanceof Refusal) return source.message
    await runExport(engine, job, source, this.limits, () => this.#closed || engine.draining)
    return undefined
  }
}
