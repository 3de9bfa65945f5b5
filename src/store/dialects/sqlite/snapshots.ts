// Connections whose transaction stays open and so do not see later commits. Starting a thread costs
// far more than a small audit, so the last one is kept for a while. While one is open the WAL cannot be
// used again from its start and grows: a snapshot that is not read, or for too long, ends.
import { statSync } from 'node:fs'
import type { Log, Store } from '../../store.ts'
import { StoreBusy } from '../errors.ts'
import { kyselyOverThread } from './dialect.ts'
import { DatabaseThread } from './thread.ts'

const idleMs = 10_000

interface SnapshotLimits {
  /** Without a read. */
  maxPauseMs: number
  /** Of the WAL, or the size of the database if that is more. */
  maxWalBytes: number
}

const defaultLimits: SnapshotLimits = { maxPauseMs: 30_000, maxWalBytes: 1024 ** 3 }

export class Snapshots {
  readonly #file: string
  readonly #log: Log
  readonly #limits: SnapshotLimits
  #idle: DatabaseThread | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #closed = false

  constructor(file: string, log: Log, limits = defaultLimits) {
    this.#file = file
    this.#log = log
    this.#limits = limits
  }

  async open(): ReturnType<Store['snapshot']> {
    const thread = await this.#take()
    await closeIfFailed(thread, thread.ask({ kind: 'query', sql: 'BEGIN', parameters: [] }))
    const bounds = new Bounds(this.#file, this.#limits, (why) => {
      this.#log('warn', `a snapshot of the database was ended: ${why}`)
      void thread.close().catch(() => {})
    })
    const db = kyselyOverThread(async (question) => {
      bounds.begin()
      try {
        return await thread.ask(question)
      } finally {
        bounds.pause()
      }
    })
    const end = async () => {
      bounds.stop()
      if (!bounds.isOver) await this.#giveBack(thread)
    }
    return { db, end }
  }

  async #take(): Promise<DatabaseThread> {
    const kept = this.#idle
    this.#idle = undefined
    clearTimeout(this.#timer)
    if (kept !== undefined && !kept.isBroken) return kept
    const thread = new DatabaseThread()
    await closeIfFailed(thread, thread.ask({ kind: 'open', role: 'reader', file: this.#file }))
    return thread
  }

  async #giveBack(thread: DatabaseThread): Promise<void> {
    await closeIfFailed(thread, thread.ask({ kind: 'rollback' }))
    if (this.#closed || this.#idle !== undefined) return thread.close()
    this.#idle = thread
    this.#timer = setTimeout(() => void this.#drop().catch(() => {}), idleMs)
    this.#timer.unref()
  }

  async #drop(): Promise<void> {
    const old = this.#idle
    this.#idle = undefined
    clearTimeout(this.#timer)
    await old?.close()
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#drop()
  }
}

/** A thread that fails here is not used again. */
async function closeIfFailed(thread: DatabaseThread, work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    await thread.close().catch(() => {})
    throw error
  }
}

/** Ends a snapshot that is not read, or keeps too much in the WAL. */
class Bounds {
  readonly #file: string
  readonly #limits: SnapshotLimits
  readonly #end: (why: string) => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #over: Error | undefined

  constructor(file: string, limits: SnapshotLimits, end: (why: string) => void) {
    this.#file = file
    this.#limits = limits
    this.#end = end
    this.pause()
  }

  get isOver(): boolean {
    return this.#over !== undefined
  }

  /** Before a read; throws when there must be none. */
  begin(): void {
    clearTimeout(this.#timer)
    if (this.#over === undefined && this.#walIsTooLarge()) {
      this.#finish('the log of the database has grown too large meanwhile')
    }
    if (this.#over !== undefined) throw this.#over
  }

  pause(): void {
    clearTimeout(this.#timer)
    if (this.#over !== undefined) return
    const { maxPauseMs } = this.#limits
    this.#timer = setTimeout(
      () => this.#finish(`nothing was read from it for ${maxPauseMs / 1000} s`),
      maxPauseMs,
    )
    this.#timer.unref()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #finish(why: string): void {
    this.#over = new StoreBusy(`the snapshot was ended: ${why}`)
    this.#end(why)
  }

  #walIsTooLarge(): boolean {
    const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
    const { maxWalBytes } = this.#limits
    const walBytes = sizeOf(`${this.#file}-wal`)
    return walBytes > maxWalBytes && walBytes > sizeOf(this.#file)
  }
}
