// Log retention: rows are deleted segment by segment, few at a time, so that no writer is blocked for long.
// A call that was charged is part of the ledger: its row stays, without what only the log shows of it.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import { tryAdvisoryLock } from '../sql/advisory-lock.ts'
import { setMeta } from '../sql/meta.ts'
import type { Store } from '../store.ts'
import { slotMs } from './groups.ts'
import { firstSeqOf, lastSeqOf, segmentOf } from './segments.ts'
import { hourMs } from './traffic-sums.ts'
import { indexedSeq, logHorizonKey, logHorizonMs } from './watermark.ts'

interface TrimOptions {
  nowMs: number
  keepMs: number
  /** Checked between two steps. */
  isStopped?: () => boolean
}

const rowsAtOnce = 512
/** A pass that finds more leaves it to the next. */
const maxSegments = 5_000
const maxSteps = 100_000
/** Lets waiting writers proceed. */
const pauseMs = 20
/** Arbitrary, but no release may change it. */
const trimLock = 7_203_114_505

/** Returns the time from which the log is complete. */
export async function trimLog(store: Store, input: TrimOptions): Promise<number> {
  const trim = new Trim(store, input)
  await trim.dropRows(input.nowMs - input.keepMs)
  await trim.dropTraffic(input.nowMs)
  return logHorizonMs(store.read)
}

class Trim {
  readonly #store: Store
  readonly #input: TrimOptions

  constructor(store: Store, input: TrimOptions) {
    this.#store = store
    this.#input = input
  }

  async dropRows(beforeMs: number): Promise<void> {
    for (let done = 0; done < maxSegments && !this.#input.isStopped?.(); done++) {
      const { read } = this.#store
      // The newest stays in any case: the next row takes its number from the last existing one.
      const newest = segmentOf(await indexedSeq(read))
      const { rows } = await sql<{ segment: number; until_ms: number }>`
        SELECT segment, until_ms FROM log_segments
        WHERE until_ms < ${beforeMs} AND segment < ${newest}
        ORDER BY segment LIMIT 1`.execute(read)
      const oldest = rows[0]
      if (oldest === undefined) return
      const { segment, until_ms } = oldest
      await this.#step((tx) => raiseHorizon(tx, until_ms + 1))
      for (let from = firstSeqOf(segment); from <= lastSeqOf(segment); from += rowsAtOnce) {
        await this.#step((tx) => dropRange(tx, from))
      }
      await this.#step((tx) => forgetSegment(tx, segment))
    }
  }

  /** Five-minute sums go with the rows, hours are kept twice as long, days for ever. */
  async dropTraffic(nowMs: number): Promise<void> {
    const { keepMs } = this.#input
    for (const [table, spanMs, ms] of [
      ['traffic', slotMs, keepMs],
      ['traffic', hourMs, 2 * keepMs],
      ['account_traffic', hourMs, 2 * keepMs],
    ] as const) {
      await this.#repeat((tx) => dropOldest(tx, { table, spanMs, beforeMs: nowMs - ms }))
    }
    await this.#step((tx) =>
      tx
        .deleteFrom('failed_attempts')
        .where('hour_ms', '<', nowMs - 2 * keepMs)
        .execute(),
    )
  }

  async #step<T>(work: (tx: Kysely<Schema>) => Promise<T>): Promise<T | undefined> {
    const { dialect, tx } = this.#store
    const done = await tx(async (db) => {
      if (dialect === 'postgres' && !(await tryAdvisoryLock(db, trimLock))) return undefined
      return work(db)
    })
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    return done
  }

  /** Repeats until a step finds nothing more. */
  async #repeat(work: (tx: Kysely<Schema>) => Promise<number>): Promise<void> {
    for (let step = 0; step < maxSteps && !this.#input.isStopped?.(); step++) {
      if (((await this.#step(work)) ?? 0) === 0) return
    }
  }
}

async function dropRange(tx: Kysely<Schema>, from: number): Promise<void> {
  const inRange = sql`seq >= ${from} AND seq < ${from + rowsAtOnce}`
  await sql`DELETE FROM requests WHERE ${inRange} AND number IS NULL`.execute(tx)
  await sql`UPDATE requests SET detail = '', upstream_request_id = NULL
    WHERE ${inRange} AND number IS NOT NULL`.execute(tx)
}

async function raiseHorizon(tx: Kysely<Schema>, ms: number): Promise<void> {
  if (ms > (await logHorizonMs(tx))) await setMeta(tx, logHorizonKey, String(ms))
}

async function forgetSegment(tx: Kysely<Schema>, segment: number): Promise<void> {
  for (const table of ['upstream_ids', 'log_values', 'log_figures', 'log_segments'] as const) {
    await tx.deleteFrom(table).where('segment', '=', segment).execute()
  }
}

/** Drops one or a few slots; returns how many rows they had. */
async function dropOldest(
  tx: Kysely<Schema>,
  of: { table: 'traffic' | 'account_traffic'; spanMs: number; beforeMs: number },
): Promise<number> {
  const { table, spanMs, beforeMs } = of
  const oldest = await tx
    .selectFrom(table)
    .select('slot_ms')
    .where('span_ms', '=', spanMs)
    .orderBy('slot_ms')
    .limit(1)
    .executeTakeFirst()
  if (oldest === undefined || oldest.slot_ms + spanMs > beforeMs) return 0
  const { numDeletedRows } = await tx
    .deleteFrom(table)
    .where('span_ms', '=', spanMs)
    .where('slot_ms', '=', oldest.slot_ms)
    .executeTakeFirst()
  return Number(numDeletedRows)
}
