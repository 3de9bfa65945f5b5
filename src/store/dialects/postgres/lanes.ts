// Accounts whose rows another transaction keeps locked: their records wait here, per account, over
// few connections and for a bounded time, while all other records are written. An account leaves as
// soon as one of its records is stored.
import type pg from 'pg'
import type { FairSemaphore } from '../../../lib/fair-semaphore.ts'
import { StoreBusy } from '../errors.ts'
import type { Aside, Part, Rows } from '../group-commit.ts'
import { joinParts } from '../split-batch.ts'
import { isTooLate, sendBatch } from './batch-writer.ts'
import { isLocked, isPassing, pause } from './connection.ts'
import { giveUpAfterMs, hasTime, limitsOf, within } from './group-commit-writer.ts'
import type { KnownNames } from './known-names.ts'

/** Per account; further records are refused at once. */
const maxWaiting = 4096
const retryPauseMs = 50
const expireEveryMs = 100

interface LanesOptions {
  pool: pg.Pool
  /** Pool connections, shared with waiting transactions; accounts take turns. */
  places: FairSemaphore
  gatewayId: string | undefined
  names: KnownNames
  /** By the database's clock. */
  nowMs: () => number
  wrote: (records: number) => void
}

interface Lane {
  waiting: Part[]
  running: boolean
}

export class Lanes implements Aside {
  readonly #options: LanesOptions
  readonly #lanes = new Map<string, Lane>()
  readonly #timer: ReturnType<typeof setInterval>

  constructor(options: LanesOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#expire(), expireEveryMs)
    this.#timer.unref()
  }

  has(accountId: string): boolean {
    return this.#lanes.has(accountId)
  }

  put(part: Part): void {
    part.fate.isAside = true
    let lane = this.#lanes.get(part.accountId)
    if (lane === undefined) {
      lane = { waiting: [], running: false }
      this.#lanes.set(part.accountId, lane)
    }
    if (lane.waiting.length < maxWaiting) lane.waiting.push(part)
    else part.fate.reject(busy())
    if (!lane.running) void this.#run(part.accountId, lane)
  }

  async close(): Promise<void> {
    while ([...this.#lanes.values()].some(({ running }) => running)) await pause(5)
    clearInterval(this.#timer)
  }

  /** Runs until no record of the account waits. */
  async #run(accountId: string, lane: Lane): Promise<void> {
    lane.running = true
    while (lane.waiting.length > 0) {
      const isFree = await this.#options.places.run(accountId, () => this.#try(lane))
      if (isFree && lane.waiting.length === 0) this.#lanes.delete(accountId)
      if (!isFree) await pause(retryPauseMs)
    }
    lane.running = false
  }

  /**
   * One attempt with all waiting records that have time left; true when the account is writable.
   */
  async #try(lane: Lane): Promise<boolean> {
    const parts = lane.waiting.filter(({ sinceMs }) => hasTime(sinceMs))
    if (parts.length === 0) return false
    lane.waiting = lane.waiting.filter(({ sinceMs }) => !hasTime(sinceMs))
    const rows = joinParts(parts)
    try {
      await this.#send(rows)
    } catch (error) {
      if (isLocked(error) || isTooLate(error) || isPassing(error)) lane.waiting.unshift(...parts)
      else for (const { fate } of parts) fate.reject(error)
      return false
    }
    for (const { fate } of parts) fate.resolve()
    this.#options.wrote(rows.size)
    return true
  }

  async #send(rows: Rows): Promise<void> {
    const { pool, gatewayId, names, nowMs } = this.#options
    const { deadlineMs, leftMs } = limitsOf(rows.sinceMs, nowMs())
    const timeoutMs = Math.max(1, Math.ceil(leftMs))
    await within(sendBatch(pool, rows, { gatewayId, names, deadlineMs, timeoutMs }), timeoutMs)
  }

  /** Records still waiting for a connection also fail on time. */
  #expire(): void {
    const before = performance.now() - giveUpAfterMs
    for (const lane of this.#lanes.values()) {
      if (lane.waiting.length === 0) continue
      const late = lane.waiting.filter(({ sinceMs }) => sinceMs < before)
      if (late.length === 0) continue
      lane.waiting = lane.waiting.filter(({ sinceMs }) => sinceMs >= before)
      for (const { fate } of late) fate.reject(busy())
    }
  }
}

const busy = (): Error => new StoreBusy('the account is locked by another transaction')
