// Runs exports one at a time, resumes those that another gateway or an earlier process left
// unfinished, and deletes those past their retention. run-export.ts writes one.

import { Refusal } from '../../../contract/errors.ts'
import { sureNowMs } from '../../../lib/clock.ts'
import { LoopService } from '../../../lib/loop.ts'
import { gatewayOf } from '../../../store/index.ts'
import {
  clearExport,
  dropExpired,
  type ExportJob,
  releaseExport,
  takeExport,
} from '../../../store/maintenance/exports.ts'
import { sharedClockMs } from '../../../store/tasks/leases.ts'
import { type ExportDeps, type ExportLimits, exportLimits, runExport } from './run-export.ts'
import { type ExportSources, isExportKind, readerOf } from './source.ts'

/** Where gateways share a database, one may have left an export unfinished. */
const pollEveryMs = 5_000
const firstMs = 1_000
/** Gateways that share a database do not retry in step. */
const jitter = 0.2
const tidyEveryMs = 600_000
/** Attempts without progress. */
const maxAttempts = 5
/** Chunks per store transaction. */
const chunksAtOnce = 8

export class Exporter extends LoopService {
  readonly limits: ExportLimits
  readonly #deps: ExportDeps
  readonly #sources: ExportSources
  #tidiedMs = 0
  #isUnfinished = false

  constructor(deps: ExportDeps, sources: ExportSources, limits: Partial<ExportLimits> = {}) {
    super({
      name: 'exporter',
      everyMs: tidyEveryMs,
      // Only after the gateway serves its first callers.
      firstMs,
      retryMs: pollEveryMs,
      jitter,
      log: deps.log,
      failure: 'export round failed',
    })
    this.#deps = deps
    this.#sources = sources
    this.limits = { ...exportLimits, ...limits }
  }

  /** Something was deleted. */
  tidySoon(): void {
    this.#tidiedMs = 0
    this.wake()
  }

  protected override async run(): Promise<number> {
    const { clock, store } = this.#deps
    this.#isUnfinished = false
    const nowMs = clock.nowMs()
    if (nowMs - this.#tidiedMs >= tidyEveryMs) {
      this.#tidiedMs = nowMs
      await this.tidy()
    }
    while (!this.#isStopping() && (await this.runNext()));
    // No other gateway can add to a database that is not shared.
    const isSingle = store.cluster === undefined && !this.#isUnfinished
    return isSingle ? tidyEveryMs : pollEveryMs
  }

  #isStopping(): boolean {
    return this.isStopped || this.#deps.load.draining
  }

  /** Drops exports past their retention. */
  async tidy(): Promise<void> {
    const { store, clock } = this.#deps
    const ids = await store.tx((tx) => dropExpired(tx, sureNowMs(clock)))
    for (const id of ids) {
      while (!this.isStopped && !(await store.tx((tx) => clearExport(tx, id, chunksAtOnce))));
    }
  }

  /** False when there is nothing to do. */
  async runNext(): Promise<boolean> {
    const { store, clock, log } = this.#deps
    const owner = gatewayOf(store)
    const nowMs = (await sharedClockMs(store.read, store.dialect)) ?? clock.nowMs()
    const untilMs = nowMs + this.limits.leaseMs
    const job = await store.tx((tx) => takeExport(tx, store.dialect, { owner, nowMs, untilMs }))
    if (job === undefined) return false
    try {
      const problem = await this.#run(job)
      const failed = problem === undefined ? undefined : { error: problem, atMs: clock.nowMs() }
      await store.tx((tx) => releaseExport(tx, job.id, owner, failed))
    } catch (error) {
      // Still ours: retried soon, here or, if this gateway dies, elsewhere.
      log.warn('export failed', { export_id: job.id, error })
      this.#isUnfinished = true
      return false
    }
    return true
  }

  /** A permanent reason why it cannot be written. */
  async #run(job: ExportJob): Promise<string | undefined> {
    if (job.attempts > maxAttempts) return 'it broke off too often; see the log of the gateway'
    if (!isExportKind(job.kind)) return `there is no list '${job.kind}'`
    const source = await this.#sources[job.kind](job.filters, readerOf(job))
    if (source instanceof Refusal) return source.message
    await runExport(this.#deps, job, source, this.limits, () => this.#isStopping())
    return undefined
  }
}
