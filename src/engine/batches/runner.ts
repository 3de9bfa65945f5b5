// Runs batches in the background: claims those that no gateway runs, a few of each account at a time, and
// removes what is no longer needed.
import { LoopService } from '../../lib/loop.ts'
import {
  claimBatch,
  freeAllBatches,
  freeBatches,
  freeBatchesOf,
} from '../../store/batches/batches.ts'
import { dropEndedLines } from '../../store/batches/lines.ts'
import { pruneCreates } from '../../store/tasks/create-keys.ts'
import { keysSinceMs } from '../tasks/create/idempotency.ts'
import { Callers } from './callers.ts'
import { sweepExpired } from './files.ts'
import { LineSlots } from './line-slots.ts'
import { LineWriter } from './line-writer.ts'
import { type BatchDeps, BatchRun } from './run-batch.ts'

/** Creates, cancels and gateways that die wake it; otherwise it looks this rarely. */
const everyMs = 60_000
const retryMs = 1_000
/** At once, of all accounts and of one. */
const maxBatches = 16
const maxOfAccount = 2
/** With those that only wait for upstreams. */
const maxWaiting = 200
const readAhead = 500
/** Lines at once. */
const maxLines = 24
const dropAtOnce = 1_000
const dropLines = 250
/** Until another is begun. */
const nextMs = 50
/** Until one is tried again. */
const interruptedMs = 5_000

export class BatchRunner extends LoopService {
  readonly #deps: BatchDeps
  readonly #owner: string
  readonly #runs = new Map<string, { run: BatchRun; accountId: string; ended: Promise<void> }>()
  readonly #slots: LineSlots
  readonly #callers: Callers
  readonly #writer: LineWriter
  readonly #stop = Promise.withResolvers<void>()
  #isStopping = false
  /** A write failed: the store may have claims of this gateway for batches that it does not run. */
  #mayBeLeft = false
  #sweepAtMs = 0

  constructor(deps: BatchDeps, owner: string) {
    super({
      name: 'batch-runner',
      everyMs,
      retryMs,
      jitter: 0.1,
      log: deps.log,
      failure: 'batch round failed',
    })
    this.#deps = deps
    this.#owner = owner
    this.#writer = new LineWriter(deps.store)
    const { load, clock } = deps
    const nowMs = () => clock.nowMs()
    this.#callers = new Callers({ hasCalls: () => load.running > load.lowPriority, nowMs })
    this.#slots = new LineSlots({ max: maxLines, callers: this.#callers, nowMs })
  }

  override async start(): Promise<void> {
    const { store } = this.#deps
    // No other process can be working on this store.
    if (store.cluster === undefined) await store.tx(freeAllBatches)
    // One that dies may leave batches: the others are told.
    store.cluster?.subscribe(({ kind }) => {
      if (kind === 'changed' || kind === 'evicted') this.wake()
    })
    super.start()
  }

  protected async run(): Promise<number | undefined> {
    const { store, clock, load } = this.#deps
    if (load.draining || this.#isStopping) return undefined
    if (!store.healthy) return retryMs
    if (this.#mayBeLeft) {
      this.#mayBeLeft = false
      await store
        .tx((tx) => freeBatchesOf(tx, this.#owner, [...this.#runs.keys()]))
        .catch((error) => {
          this.#mayBeLeft = true
          throw error
        })
    }
    const free = await freeBatches(store.read, store.dialect, readAhead)
    for (const { id, accountId } of free) {
      if (this.#active().length >= maxBatches || this.#runs.size >= maxWaiting) break
      if (!this.#runs.has(id) && this.#runsOf(accountId) < maxOfAccount) await this.#begin(id)
    }
    if (clock.nowMs() < this.#sweepAtMs) return undefined
    this.#sweepAtMs = clock.nowMs() + everyMs
    await sweepExpired(this.#deps)
    await store.tx((tx) => pruneCreates(tx, keysSinceMs(clock), dropAtOnce))
    while (!this.#isStopping && (await store.tx((tx) => dropEndedLines(tx, dropLines)))) {
      await this.#callers.giveWay()
    }
    return undefined
  }

  #runsOf(accountId: string): number {
    return this.#active().filter((each) => each.accountId === accountId).length
  }

  /** Those that do not only wait for upstreams. */
  #active() {
    return [...this.#runs.values()].filter(({ run }) => !run.isWaiting)
  }

  async #begin(id: string): Promise<void> {
    const { store, log } = this.#deps
    const claiming = store.tx((tx) => claimBatch(tx, store.dialect, id, this.#owner))
    const claimed = await claiming.catch((error) => {
      this.#mayBeLeft = true
      throw error
    })
    if (claimed === undefined) return
    const { batch, claim } = claimed
    const tools = {
      slots: this.#slots,
      callers: this.#callers,
      writer: this.#writer,
      isStopping: () => this.#isStopping,
      sleep: (ms: number) => Promise.race([Bun.sleep(ms), this.#stop.promise]),
    }
    const run = new BatchRun(this.#deps, tools, batch, claim)
    const ended = run
      .run()
      .then(
        () => {
          // Its lines can go, and another may begin.
          this.#sweepAtMs = 0
          this.wake(nextMs)
        },
        (error) => {
          this.#mayBeLeft = true
          log.warn('batch interrupted', { name: id, error })
          this.wake(interruptedMs)
        },
      )
      .finally(() => this.#runs.delete(id))
    this.#runs.set(id, { run, accountId: batch.accountId, ended })
  }

  /** Lines under way end first; the rest is left to the next gateway. */
  override async stop(): Promise<void> {
    this.#isStopping = true
    this.#stop.resolve()
    await super.stop()
    const runs = [...this.#runs.values()]
    await Promise.all(runs.map(({ ended }) => ended))
    if (runs.length > 0) this.#deps.store.cluster?.publish({ kind: 'changed' })
  }
}
