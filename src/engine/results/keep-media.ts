// Schedules copies of results: at once for tasks that end here, and by search for those left
// undone. A bounded number at a time; the operator sets where and how long they are kept.
import type { Task } from '../../contract/task.ts'
import { newId } from '../../lib/crypto/ids.ts'
import { Loop, type Service } from '../../lib/loop.ts'
import {
  freeAllClaims,
  nextClaimEndMs,
  tasksWithFreeClaims,
  tasksWithoutFiles,
} from '../../store/tasks/file-claims.ts'
import { type CopyDeps, copyTask } from './copy-media.ts'
import type { MediaStorage } from './media-storage.ts'
import { removeExpired, trimToBudget } from './trim-media.ts'

const maxCopiers = 4
/** Beyond that they are found by search. */
const maxWaiting = 1_000
const pollMs = 60_000
const sweepMs = 10 * 60_000
const minPollMs = 1_000
/** Maximum task time plus maximum link lifetime: nothing older can still be copied. */
const copyableMs = 3 * 24 * 3_600_000
const pageTasks = 200

export class MediaKeeper implements Service {
  readonly name = 'media-keeper'
  readonly #deps: CopyDeps
  readonly #media: MediaStorage
  readonly #loop: Loop
  readonly #waiting = new Set<string>()
  readonly #copying = new Set<string>()
  readonly #abort = new AbortController()
  #isStarted = false
  #sweepAtMs = 0
  #trimming = false
  #keptBytes = 0

  constructor(deps: CopyDeps, media: MediaStorage) {
    this.#deps = deps
    this.#media = media
    this.#loop = new Loop({
      name: this.name,
      run: () => this.#poll(),
      everyMs: pollMs,
      minGapMs: minPollMs,
      log: deps.log,
      failure: 'result copy round failed',
    })
  }

  /** Starts copying, including what was left undone before. */
  async start(): Promise<void> {
    const { store } = this.#deps
    this.#isStarted = true
    // No other process can be working on this store.
    if (store.cluster === undefined) await store.tx(freeAllClaims)
    this.#loop.start()
  }

  /** A task has succeeded, and its end is written. */
  keep({ id }: Task): void {
    if (this.#isStarted && this.#media.copies) this.#add(id)
  }

  /** A file has been kept. */
  kept(bytes: number): void {
    this.#keptBytes += bytes
    if (this.#keptBytes > this.#media.budgetBytes) void this.#trim()
  }

  /** Resolves when no copy is running or queued. */
  async settled(): Promise<void> {
    while (this.#copying.size + this.#waiting.size > 0 || this.#loop.isRunning || this.#trimming) {
      await Bun.sleep(10)
    }
  }

  /** Aborts running copies and frees their claims for the next gateway. */
  async stop(): Promise<void> {
    this.#abort.abort()
    this.#waiting.clear()
    await this.#loop.stop()
    await this.settled()
  }

  #add(taskId: string): void {
    if (this.#abort.signal.aborted || this.#copying.has(taskId)) return
    if (this.#waiting.size < maxWaiting) this.#waiting.add(taskId)
    else this.#sweepAtMs = 0
    this.#copyNext()
  }

  #copyNext(): void {
    const { log } = this.#deps
    for (const taskId of this.#waiting) {
      if (this.#copying.size >= maxCopiers) return
      this.#waiting.delete(taskId)
      this.#copying.add(taskId)
      copyTask(this.#deps, this.#media, taskId, this.#abort.signal)
        .then((againMs) => againMs !== undefined && this.#wake(againMs))
        .catch((error) => log.warn('result not stored yet', { task_id: taskId, error }))
        .finally(() => {
          this.#copying.delete(taskId)
          this.#copyNext()
          // The search may have found more than fits the queue.
          if (this.#waiting.size === 0 && this.#sweepAtMs === 0) this.#loop.wake()
        })
    }
  }

  #wake(atMs: number): void {
    this.#loop.wake(atMs - this.#deps.clock.nowMs())
  }

  async #poll(): Promise<number | undefined> {
    const { store, clock } = this.#deps
    const nowMs = clock.nowMs()
    if (!store.healthy) return undefined
    for (const taskId of await tasksWithFreeClaims(store.read, nowMs, maxWaiting)) {
      this.#add(taskId)
    }
    // By then live claims have been renewed; those of dead processes have not.
    const nextMs = await nextClaimEndMs(store.read)
    if (nowMs >= this.#sweepAtMs) await this.#sweep(nowMs)
    return nextMs === undefined ? undefined : nextMs - clock.nowMs()
  }

  async #sweep(nowMs: number): Promise<void> {
    this.#sweepAtMs = nowMs + sweepMs
    if (this.#media.copies) {
      for (const kind of ['image', 'video'] as const) await this.#find(kind, nowMs)
    }
    for (const store of this.#media.stores.values()) await store.tidy(nowMs)
    await removeExpired(this.#deps, this.#media)
    await this.#trim()
  }

  async #find(kind: Task['kind'], nowMs: number): Promise<void> {
    // After its kind, an id begins with its creation time.
    const prefix = `${kind}_`
    let afterId = newId(kind, nowMs - copyableMs).slice(0, prefix.length + 12)
    for (let page = pageTasks; page === pageTasks && this.#waiting.size < maxWaiting; ) {
      const found = await tasksWithoutFiles(this.#deps.store.read, afterId, pageTasks)
      const ids = found.filter((id) => id.startsWith(prefix))
      for (const id of ids) this.#add(id)
      page = ids.length
      afterId = ids.at(-1) ?? afterId
    }
  }

  async #trim(): Promise<void> {
    if (this.#trimming) return
    this.#trimming = true
    try {
      this.#keptBytes = await trimToBudget(this.#deps, this.#media)
    } catch (error) {
      this.#deps.log.warn('stored results not deleted', { error })
    } finally {
      this.#trimming = false
    }
  }
}
