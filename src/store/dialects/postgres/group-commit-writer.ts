// Writes the hot batches. A batch is tried until it is stored or its time is over; what waits for a
// locked account is taken aside (lanes.ts), so that one account holds up no other. Whoever is told that
// a record was not stored can rely on it: by then the database no longer takes it.
import type pg from 'pg'
import type { Batch, Rows } from '../group-commit.ts'
import { payersOf, splitBatch } from '../split-batch.ts'
import { findLocked, isTooLate, sendBatch } from './batch-writer.ts'
import { isLocked, isPassing, pause } from './connection.ts'
import type { Lanes } from './lanes.ts'

/** Callers hear within 5 s; what is left is for writing down that they were told so. */
export const giveUpAfterMs = 4_700
/** The database refuses what it comes to later; the rest is for clocks that do not agree. */
const applyWithinMs = 4_200
const retryPausesMs = [100, 300, 700, 1300, 2000]
/** Locks in a row that nobody is found to hold. */
const maxUnexplained = 3
/** With less time than this, a try is not worth it. */
const minTryMs = 50

export interface GroupCommitWriterOptions {
  pool: pg.Pool
  gatewayId: string | undefined
  /** By the database's clock. */
  nowMs: () => number
  lanes: Pick<Lanes, 'put'>
  /** While the work waits for the database, its silence counts. */
  during: <T>(work: Promise<T>) => Promise<T>
  /** It is tried again. */
  interrupted: (error: unknown) => void
}

/** When the time of a record is over, here and by the database's clock. */
export function limitsOf(sinceMs: number, nowMs: number) {
  const agoMs = performance.now() - sinceMs
  return { deadlineMs: nowMs - agoMs + applyWithinMs, leftMs: giveUpAfterMs - agoMs }
}

export const hasTime = (sinceMs: number): boolean =>
  performance.now() - sinceMs < applyWithinMs - minTryMs

export const outOfTime = (): Error => new Error('the database did not take it in time')

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
        // By now it may be free. If not, it is on none of its accounts but on a table, and everybody
        // waits for it.
        if (isLocked(error) && ++unexplained < maxUnexplained) continue
        this.#options.interrupted(error)
        const pauseMs = (retryPausesMs[tries] ?? 2000) * (0.5 + Math.random() / 2)
        await pause(Math.min(pauseMs, Math.max(0, limitsOf(sinceMs, 0).leftMs)))
      }
    }
  }

  /** Not before the database itself would refuse it. */
  async #giveUp(sinceMs: number, error: unknown): Promise<never> {
    const { leftMs } = limitsOf(sinceMs, 0)
    if (error !== undefined && leftMs > 0) await pause(leftMs)
    throw error ?? outOfTime()
  }

  async #send(batch: Rows, deadlineMs: number): Promise<void> {
    const { pool, gatewayId, during } = this.#options
    const { leftMs } = limitsOf(batch.sinceMs, 0)
    const timeoutMs = Math.max(1, Math.ceil(leftMs))
    const sent = during(sendBatch(pool, batch, { gatewayId, deadlineMs, timeoutMs }))
    await within(sent, timeoutMs).catch((error) => {
      throw isTooLate(error) ? outOfTime() : error
    })
  }

  /** Gives what nobody keeps from being written. */
  async #setAside(batch: Batch): Promise<Batch> {
    const { pool, gatewayId, lanes } = this.#options
    const timeoutMs = Math.max(1, Math.ceil(limitsOf(batch.sinceMs, 0).leftMs))
    const asked = findLocked(pool, payersOf(batch), { gatewayId, timeoutMs })
    // Without an answer nobody can be told from the others.
    const locked = await within(asked, timeoutMs).catch(() => new Set<string>())
    if (locked.size === 0) return batch
    const { rest, parts } = splitBatch(batch, locked)
    for (const part of parts) lanes.put(part)
    return rest
  }
}

/** Whoever waits in the pool for a connection has no time-out of its own. */
export async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(outOfTime()), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    work.catch(() => {})
  }
}
