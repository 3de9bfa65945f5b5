// Indexes the request log in the background: an index on the log itself would cost each record more
// than everything else together. Rows are indexed in segments, each once it is complete; the rows
// after the last segment are few enough to scan. Decides when, not what is written.
import { type Kysely, sql } from 'kysely'
import { messageOf } from '../dialects/health.ts'
import type { Dialect, Schema } from '../schema.ts'
import { tryAdvisoryLock } from '../sql/advisory-lock.ts'
import { addMissingFigures } from './figures.ts'
import { segmentRows } from './posting-list.ts'
import { gatherSegment, nextSegment, writeSegment } from './segments.ts'

export interface LogIndexerLimits {
  /** Rows behind that start a run even under load; a peak that ends before then costs nothing. */
  behindRows: number
  /** Quiet time after the last record that starts a run. */
  quietMs: number
  /** How long a row must have been visible; see Sighting. */
  settleMs: number
}

/**
 * A batch on PostgreSQL is one statement, which the server ends after 6 s: 15 s covers one that has
 * drawn its numbers but not begun to write. Once it writes, it is among the transactions that a
 * sighting waits for, however long its commit takes. SQLite has one writer, in order.
 */
export const logIndexerLimits = {
  sqlite: { behindRows: 8 * segmentRows, quietMs: 2000, settleMs: 0 },
  postgres: { behindRows: 2 * segmentRows, quietMs: 2000, settleMs: 15_000 },
} as const satisfies Record<string, LogIndexerLimits>

const pauseBetweenMs = 20

interface LogIndexerAccess {
  dialect: Dialect
  tx<T>(work: (tx: Kysely<Schema>) => Promise<T>): Promise<T>
  /** Writes the next segment if it is complete up to that row; true when there was one. */
  next(settledSeq: number): Promise<boolean>
  log(level: 'warn', msg: string): void
}

/** The newest row at a moment. Transactions that were running then may still add rows below it. */
interface Sighting {
  atMs: number
  seq: number
  /** Transactions with a smaller number were running then or had ended. */
  nextTransaction: bigint
}

export class LogIndexer {
  readonly #access: LogIndexerAccess
  readonly #limits: LogIndexerLimits
  /** Oldest first. */
  #sightings: Sighting[] = []
  #behind = 0
  #lastRecordMs = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: Promise<void> | undefined
  #stopped = false

  constructor(access: LogIndexerAccess, limits: LogIndexerLimits) {
    this.#access = access
    this.#limits = limits
    this.#wake(limits.quietMs)
  }

  /** Called once per stored batch: must cost nothing. */
  recorded(rows: number): void {
    this.#behind += rows
    this.#lastRecordMs = performance.now()
    if (this.#running !== undefined) return
    if (this.#behind >= this.#limits.behindRows && this.#limits.settleMs === 0) this.#start()
    else if (this.#timer === undefined) this.#wake(this.#limits.quietMs)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  #wake(afterMs: number): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      const quietMs = performance.now() - this.#lastRecordMs
      const early = this.#limits.quietMs - quietMs
      if (early > 1 && this.#behind < this.#limits.behindRows) this.#wake(early)
      else this.#start()
    }, afterMs)
    this.#timer.unref()
  }

  #start(): void {
    if (this.#running !== undefined || this.#stopped) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#running = this.#run()
      .catch((error) => {
        this.#access.log('warn', `the request log is not indexed yet: ${messageOf(error)}`)
        return true
      })
      .then((more) => {
        this.#running = undefined
        if (more) this.#wake(Math.max(this.#limits.quietMs, this.#limits.settleMs / 4))
      })
  }

  /** True when rows were left for later. */
  async #run(): Promise<boolean> {
    this.#behind = 0
    const bound = await this.#settledSeq()
    while (!this.#stopped && (await this.#access.next(bound.seq))) {
      // Records waiting for the writer go first.
      await new Promise((resolve) => setTimeout(resolve, pauseBetweenMs))
    }
    return bound.more || this.#behind > 0
  }

  async #settledSeq(): Promise<{ seq: number; more: boolean }> {
    const { dialect, tx } = this.#access
    const nowMs = performance.now()
    const { newest, ended } = await tx((db) => poll(db, dialect))
    this.#sightings.push({ ...newest, atMs: nowMs })
    const settled = this.#sightings.filter(
      ({ atMs, nextTransaction }) =>
        nowMs - atMs >= this.#limits.settleMs && nextTransaction <= ended,
    )
    const seq = settled.at(-1)?.seq ?? 0
    this.#sightings = this.#sightings.filter((sighting) => sighting.seq > seq)
    return { seq, more: seq < newest.seq }
  }
}

/** Works on any connection; true when there was a segment, or one to be completed. */
export const indexNextSegment = (
  { dialect, tx }: Pick<LogIndexerAccess, 'dialect' | 'tx'>,
  settledSeq: number,
): Promise<boolean> =>
  tx(async (db) => {
    if (dialect === 'postgres' && !(await tryAdvisoryLock(db, indexLock))) return false
    const segment = await nextSegment(db, settledSeq)
    if (segment === undefined) return addMissingFigures(db, dialect)
    await writeSegment(db, dialect, await gatherSegment(db, segment))
    return true
  })

/** One of several gateways indexes. Arbitrary, but no release may change it. */
const indexLock = 7_203_114_503

/** The newest row, and the number below which all transactions have ended. */
async function poll(
  db: Kysely<Schema>,
  dialect: Dialect,
): Promise<{ newest: Omit<Sighting, 'atMs'>; ended: bigint }> {
  const row = await db
    .selectFrom('requests')
    .select('seq')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  const seq = row?.seq ?? 0
  if (dialect === 'sqlite') return { newest: { seq, nextTransaction: 0n }, ended: 0n }
  // Read after the row, so that every transaction with a number below it is counted.
  const { rows } = await sql<{ next: string; ended: string }>`
    SELECT pg_snapshot_xmax(now)::text AS next, pg_snapshot_xmin(now)::text AS ended
    FROM pg_current_snapshot() AS now`.execute(db)
  const { next = '0', ended = '0' } = rows[0] ?? {}
  return { newest: { seq, nextTransaction: BigInt(next) }, ended: BigInt(ended) }
}
