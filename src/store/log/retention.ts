// Log retention. On PostgreSQL a week is a partition and is dropped at once. SQLite has no
// partitions: rows are deleted segment by segment, few at a time, so that the one writer is never
// blocked for long; the file does not shrink, its space is reused. The ledger stays whole.
import { type Kysely, sql } from 'kysely'
import { floorOf } from '../proof/hourly-totals.ts'
import type { Schema } from '../schema.ts'
import { tryAdvisoryLock } from '../sql/advisory-lock.ts'
import { setMeta } from '../sql/meta.ts'
import type { Store } from '../store.ts'
import { slotMs } from './groups.ts'
import { firstId, timeOfId } from './ids.ts'
import { dropPartition, listPartitions } from './partitions.ts'
import { logHorizonKey, logHorizonMs } from './requests.ts'
import { firstSeqOf, lastSeqOf, segmentOf } from './segments.ts'
import { dayMs, hourMs } from './traffic-sums.ts'
import { indexedSeq } from './watermark.ts'

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
  const beforeMs = await droppableMs(store.read, input.nowMs - input.keepMs)
  const trim = new Trim(store, input)
  if (store.dialect === 'postgres') await trim.dropWeeks(beforeMs)
  else await trim.dropRows(beforeMs)
  await trim.dropTraffic(input.nowMs)
  return logHorizonMs(store.read)
}

/** Keeps request rows whose entry has no receipt yet. */
async function droppableMs(db: Kysely<Schema>, wantedMs: number): Promise<number> {
  const { rows } = await sql<{ at_ms: number }>`
    SELECT e.at_ms FROM entries e
    WHERE e.id > ${await floorOf(db)} AND e.kind IN ('credit', 'charge', 'adjust')
      AND NOT EXISTS (SELECT 1 FROM receipts x WHERE x.entry_id = e.id)
    ORDER BY e.id LIMIT 1`.execute(db)
  const oldestMs = rows[0]?.at_ms
  return oldestMs === undefined ? wantedMs : Math.min(wantedMs, oldestMs - dayMs)
}

class Trim {
  readonly #store: Store
  readonly #input: TrimOptions

  constructor(store: Store, input: TrimOptions) {
    this.#store = store
    this.#input = input
  }

  async dropWeeks(beforeMs: number): Promise<void> {
    const bound = firstId(beforeMs)
    for (const { name, toId } of await listPartitions(this.#store.read)) {
      if (toId === undefined || toId > bound || this.#input.isStopped?.()) continue
      await this.#step(async (tx) => {
        await raiseHorizon(tx, timeOfId(toId) ?? 0)
        await dropPartition(tx, name)
        return 0
      })
    }
    const horizon = firstId(await logHorizonMs(this.#store.read))
    await this.#repeat(async (tx) => {
      const { numAffectedRows } = await sql`
        DELETE FROM requests_rest WHERE ctid IN (
          SELECT ctid FROM requests_rest WHERE request_id < ${horizon} LIMIT ${rowsAtOnce})`.execute(
        tx,
      )
      return Number(numAffectedRows ?? 0)
    })
    await this.#repeat(async (tx) => {
      const { rows } = await sql<{ segment: number }>`
        SELECT segment FROM log_segments WHERE until_id < ${horizon}
        ORDER BY segment LIMIT 1`.execute(tx)
      for (const { segment } of rows) await forgetSegment(tx, segment)
      return rows.length
    })
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
        await this.#step(async (tx) => {
          await sql`
            DELETE FROM requests WHERE seq >= ${from} AND seq < ${from + rowsAtOnce}`.execute(tx)
        })
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

async function raiseHorizon(tx: Kysely<Schema>, ms: number): Promise<void> {
  if (ms > (await logHorizonMs(tx))) await setMeta(tx, logHorizonKey, String(ms))
}

async function forgetSegment(tx: Kysely<Schema>, segment: number): Promise<void> {
  for (const table of ['upstream_ids', 'log_values', 'log_segments'] as const) {
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
