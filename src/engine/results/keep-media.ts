// Schedules copies of results: at once for tasks that end here, and by search for those left
// undone. A bounded number at a time; the operator sets where and how long they are kept.
import type { Task } from '../../contract/task.ts'
import { newId } from '../../lib/crypto/ids.ts'
import type { MediaStore } from '../../media/store.ts'
import {
  freeAllClaims,
  nextClaimEndMs,
  tasksWithFreeClaims,
  tasksWithoutFiles,
} from '../../store/tasks/file-claims.ts'
import type { Engine } from '../engine.ts'
import { copyTask } from './copy-media.ts'
import { removeExpired, trimToBudget } from './trim-media.ts'

const maxCopiers = 4
/** Beyond that they are found by search. */
const maxWaiting = 1_000
const pollMs = 60_000
const sweepMs = 10 * 60_000
const minMs = 20
const minPollMs = 1_000
/** Maximum task time plus maximum link lifetime: nothing older can still be copied. */
const copyableMs = 3 * 24 * 3_600_000
const pageTasks = 200

export interface KeepSettings {
  /** The first takes new files; the others still hold old ones. */
  stores: readonly [MediaStore, ...MediaStore[]]
  budgetBytes: number
  keepMs: number
  /** False: only inline results are kept, as no other copy exists. Absent: true. */
  copies?: boolean
}

export class MediaKeeper {
  readonly main: MediaStore
  readonly stores: ReadonlyMap<string, MediaStore>
  readonly budgetBytes: number
  readonly keepMs: number
  readonly copies: boolean
  readonly #waiting = new Set<string>()
  readonly #copying = new Set<string>()
  readonly #stop = new AbortController()
  #engine: Engine | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #timerAtMs = Number.POSITIVE_INFINITY
  #sweepAtMs = 0
  #polling = false
  #trimming = false
  #keptBytes = 0

  constructor({ stores, budgetBytes, keepMs, copies = true }: KeepSettings) {
    this.copies = copies
    this.main = stores[0]
    this.stores = new Map(stores.map((store) => [store.place, store]))
    this.budgetBytes = budgetBytes
    this.keepMs = keepMs
  }

  /** Starts copying, including what was left undone before. */
  async start(engine: Engine): Promise<void> {
    this.#engine = engine
    // No other process can be working on this store.
    if (engine.store.cluster === undefined) await engine.store.tx(freeAllClaims)
    this.#wake(engine.clock.nowMs())
  }

  /** A task has succeeded, and its end is written. */
  keep({ id }: Task): void {
    if (this.#engine !== undefined && this.copies) this.#add(this.#engine, id)
  }

  /** A file has been kept. */
  kept(engine: Engine, bytes: number): void {
    this.#keptBytes += bytes
    if (this.#keptBytes > this.budgetBytes) void this.#trim(engine)
  }

  /** Resolves when no copy is running or queued. */
  async settled(): Promise<void> {
    while (this.#copying.size + this.#waiting.size > 0 || this.#polling || this.#trimming) {
      await Bun.sleep(10)
    }
  }

  /** Aborts running copies and frees their claims for the next gateway. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#stop.abort()
    this.#waiting.clear()
    await this.settled()
  }

  #add(engine: Engine, taskId: string): void {
    if (this.#stop.signal.aborted || this.#copying.has(taskId)) return
    if (this.#waiting.size < maxWaiting) this.#waiting.add(taskId)
    else this.#sweepAtMs = 0
    this.#copyNext(engine)
  }

  #copyNext(engine: Engine): void {
    for (const taskId of this.#waiting) {
      if (this.#copying.size >= maxCopiers) return
      this.#waiting.delete(taskId)
      this.#copying.add(taskId)
      copyTask(engine, this, taskId, this.#stop.signal)
        .then((againMs) => againMs !== undefined && this.#wake(againMs))
        .catch((error) => engine.log.warn('result not stored yet', { task_id: taskId, error }))
        .finally(() => {
          this.#copying.delete(taskId)
          this.#copyNext(engine)
          // The search may have found more than fits the queue.
          if (this.#waiting.size === 0 && this.#sweepAtMs === 0) this.#wake(engine.clock.nowMs())
        })
    }
  }

  #wake(atMs: number): void {
    const engine = this.#engine
    if (engine === undefined || this.#stop.signal.aborted || atMs >= this.#timerAtMs) return
    clearTimeout(this.#timer)
    this.#timerAtMs = atMs
    const waitMs = Math.min(pollMs, Math.max(minMs, atMs - engine.clock.nowMs()))
    this.#timer = setTimeout(() => this.#poll(engine), waitMs)
  }

  async #poll(engine: Engine): Promise<void> {
    this.#timerAtMs = Number.POSITIVE_INFINITY
    if (this.#polling || this.#stop.signal.aborted) return
    this.#polling = true
    const nowMs = engine.clock.nowMs()
    let nextMs = nowMs + pollMs
    try {
      const { read, healthy } = engine.store
      if (healthy) {
        for (const taskId of await tasksWithFreeClaims(read, nowMs, maxWaiting)) {
          this.#add(engine, taskId)
        }
        // By then live claims have been renewed; those of dead processes have not.
        nextMs = Math.min(nextMs, (await nextClaimEndMs(read)) ?? nextMs)
        if (nowMs >= this.#sweepAtMs) await this.#sweep(engine, nowMs)
      }
    } catch (error) {
      engine.log.warn('result copy round failed', { error })
    } finally {
      this.#polling = false
    }
    this.#wake(Math.max(nextMs, nowMs + minPollMs))
  }

  async #sweep(engine: Engine, nowMs: number): Promise<void> {
    this.#sweepAtMs = nowMs + sweepMs
    if (this.copies) {
      for (const kind of ['image', 'video'] as const) await this.#find(engine, kind, nowMs)
    }
    for (const store of this.stores.values()) await store.tidy(nowMs)
    await removeExpired(engine, this)
    await this.#trim(engine)
  }

  async #find(engine: Engine, kind: Task['kind'], nowMs: number): Promise<void> {
    // After its kind, an id begins with its creation time.
    const prefix = `${kind}_`
    let afterId = newId(kind, nowMs - copyableMs).slice(0, prefix.length + 12)
    for (let page = pageTasks; page === pageTasks && this.#waiting.size < maxWaiting; ) {
      const found = await tasksWithoutFiles(engine.store.read, afterId, pageTasks)
      const ids = found.filter((id) => id.startsWith(prefix))
      for (const id of ids) this.#add(engine, id)
      page = ids.length
      afterId = ids.at(-1) ?? afterId
    }
  }

  async #trim(engine: Engine): Promise<void> {
    if (this.#trimming) return
    this.#trimming = true
    try {
      this.#keptBytes = await trimToBudget(engine, this)
    } catch (error) {
      engine.log.warn('stored results not deleted', { error })
    } finally {
      this.#trimming = false
    }
  }
}
