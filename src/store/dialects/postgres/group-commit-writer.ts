// Writes the hot batches. A batch is retried until it is stored or its time is over; records of a
// locked account are set aside (lanes.ts), so that one account delays no other. A record reported
// as not stored stays that way: by then the database rejects it.
import type pg from 'pg'
import type { Batch, Part, Rows } from '../group-commit.ts'
import { payersOf, splitBatch } from '../split-batch.ts'
import { findLocked, isTooLate, sendBatch } from './batch-writer.ts'
import { isLocked, isPassing, pause } from './connection.ts'
import type { KnownNames } from './known-names.ts'

/** Callers get a reply within 5 s; the remainder is for recording that they were refused. */
export const giveUpAfterMs = 4_700
/** The database rejects a batch written later; the remainder is for its commit and for clock differences. */
const applyWithinMs = 4_100
const retryPausesMs = [100, 300, 700, 1300, 2000]
/** Consecutive lock errors without a locked account. */
const maxUnexplained = 3
/** With less time left than this, no attempt is made. */
const minTryMs = 50

interface GroupCommitWriterOptions {
  pool: pg.Pool
  gatewayId: string | undefined
  names: KnownNames
  /** By the database's clock. */
  nowMs: () => number
  lanes: { put(part: Part): void }
  /** Counts the database as silent while the work waits for it. */
  during: <T>(what: string, work: Promise<T>) => Promise<T>
  /** The batch is retried. */
  interrupted: (error: unknown) => void
}

/** Deadline of a record, by the local clock and by the database's. */
export function limitsOf(sinceMs: number, nowMs: number) {
  const agoMs = performance.now() - sinceMs
  return { deadlineMs: nowMs - agoMs + applyWithinMs, leftMs: giveUpAfterMs - agoMs }
}

export const hasTime = (sinceMs: number): boolean =>
  performance.now() - sinceMs < applyWithinMs - minTryMs

const outOfTime = (ms: number): Error =>
  new Error(`the database did not take it within ${Math.round(ms)} ms`)

export class GroupCommitWriter {
  readonly #options: GroupCommitWriterOptions

  constructor(options: GroupCommitWriterOptions) {
    this.#options = options
  }

  async write(batch: Batch): Promise<void> {
    const { sinceMs } = batch
    const { deadlineMs } = limitsOf(sinceMs, this.#options.nowMs())
    let rest: Batch = batch
    let lastError: unknown
    let unexplained = 0
    for (let tries = 0; ; tries++) {
      if (!hasTime(sinceMs)) return this.#giveUp(sinceMs, lastError)
      try {
        await this.#send(rest, deadlineMs)
        return
      } catch (error) {
        lastError = error
        const free = isLocked(error) ? await this.#setAside(rest) : rest
        if (free.size === 0) return
        if (free.size < rest.size) {
          rest = free
          continue
        }
        if (!isPassing(error) && !isLocked(error)) throw error
        // It may be free by now. If not, the lock is on a table rather than on one of its accounts,
        // and every record waits for it.
        if (isLocked(error) && ++unexplained < maxUnexplained) continue
        this.#options.interrupted(error)
        const pauseMs = (retryPausesMs[tries] ?? 2000) * (0.5 + Math.random() / 2)
        await pause(Math.min(pauseMs, Math.max(0, limitsOf(sinceMs, 0).leftMs)))
      }
    }
  }

  /** Not before the database itself would reject it. */
  async #giveUp(sinceMs: number, error: unknown): Promise<never> {
    const { leftMs } = limitsOf(sinceMs, 0)
    if (error !== undefined && leftMs > 0) await pause(leftMs)
    throw error ?? outOfTime(giveUpAfterMs)
  }

  async #send(batch: Rows, deadlineMs: number): Promise<void> {
    const { pool, gatewayId, names, during } = this.#options
    const { leftMs } = limitsOf(batch.sinceMs, 0)
    const timeoutMs = Math.max(1, Math.ceil(leftMs))
    const sending = sendBatch(pool, batch, { gatewayId, names, deadlineMs, timeoutMs })
    const sent = during(`a batch of ${batch.size} records`, sending)
    await within(sent, timeoutMs).catch((error) => {
      throw isTooLate(error) ? outOfTime(applyWithinMs) : error
    })
  }

  /** Returns the part of the batch that no lock blocks. */
  async #setAside(batch: Batch): Promise<Batch> {
    const { pool, gatewayId, lanes } = this.#options
    const timeoutMs = Math.max(1, Math.ceil(limitsOf(batch.sinceMs, 0).leftMs))
    const asked = findLocked(pool, payersOf(batch), { gatewayId, timeoutMs })
    // Without a reply, locked accounts cannot be told from the others.
    const locked = await within(asked, timeoutMs).catch(() => new Set<string>())
    if (locked.size === 0) return batch
    const { rest, parts } = splitBatch(batch, locked)
    for (const part of parts) lanes.put(part)
    return rest
  }
}

/** Waiting for a pool connection has no time-out of its own. */
export async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(outOfTime(ms)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    work.catch(() => {})
  }
}
