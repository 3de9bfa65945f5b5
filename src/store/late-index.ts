// Fills upstream_ids behind the request log, out of the way of the hot path: a random-key index on
// the log itself would cost each record more than everything else together. The index is made of
// segments of rows that follow each other; under load each is written once, sorted, at the end of
// the table, and a look-up asks every segment. The watermark (a seq in meta) moves along.
import { type Kysely, sql } from 'kysely'
import { messageOf } from './health.ts'
import { getMeta, setMeta } from './meta.ts'
import type { Engine, Schema } from './schema.ts'

export interface LateIndexLimits {
  /** Rows behind that start a run even while records keep coming. */
  behindRows: number
  /** Quiet time after the last record that starts a run. */
  quietMs: number
  /** How long a row must have been visible; covers transactions that commit out of seq order. */
  settleMs: number
}

/** Few enough to index in some 10 ms, enough that 10 million rows make 2,500 look-ups of one page. */
const segmentRows = 4096

export const lateIndexLimits = {
  sqlite: { behindRows: 2 * segmentRows, quietMs: 2000, settleMs: 0 },
  postgres: { behindRows: 2 * segmentRows, quietMs: 2000, settleMs: 60_000 },
} as const satisfies Record<string, LateIndexLimits>

export const watermarkKey = 'upstream_ids_seq'
const pauseBetweenMs = 20

export interface LateIndexAccess {
  engine: Engine
  tx<T>(work: (tx: Kysely<Schema>) => Promise<T>): Promise<T>
  log(level: 'warn', msg: string): void
}

export class LateIndex {
  readonly #access: LateIndexAccess
  readonly #limits: LateIndexLimits
  /** Newest seq seen at a moment, oldest first. */
  #sightings: { atMs: number; seq: number }[] = []
  #behind = 0
  #lastRecordMs = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: Promise<void> | undefined
  #stopped = false

  constructor(access: LateIndexAccess, limits: LateIndexLimits) {
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
        this.#access.log('warn', `upstream ids are not indexed yet: ${messageOf(error)}`)
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
    while (!this.#stopped) {
      const rows = await this.#access.tx(async (tx) => {
        if (this.#access.engine === 'postgres' && !(await isMyTurn(tx))) return 0
        return indexUpstreamIds(tx, bound.seq)
      })
      if (rows === 0) break
      // Records waiting for the writer go first.
      await new Promise((resolve) => setTimeout(resolve, pauseBetweenMs))
    }
    return bound.more || this.#behind > 0
  }

  async #settledSeq(): Promise<{ seq: number; more: boolean }> {
    const newest = await this.#access.tx(newestSeq)
    const nowMs = performance.now()
    this.#sightings.push({ atMs: nowMs, seq: newest })
    const settled = this.#sightings.filter(({ atMs }) => nowMs - atMs >= this.#limits.settleMs)
    const seq = settled.at(-1)?.seq ?? 0
    this.#sightings = this.#sightings.filter((sighting) => sighting.seq > seq)
    return { seq, more: seq < newest }
  }
}

/** Any constant will do as long as no release changes it. */
const indexLock = 7_203_114_503

/** Of several gateways, one indexes; the others would only wait for it. */
async function isMyTurn(tx: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql<{ got: boolean }>`
    SELECT pg_try_advisory_xact_lock(${sql.lit(indexLock)}) AS got`.execute(tx)
  return rows[0]?.got === true
}

async function newestSeq(db: Kysely<Schema>): Promise<number> {
  const row = await db
    .selectFrom('requests')
    .select('seq')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.seq ?? 0
}

/** Indexes the next rows up to `lastSeq` and moves the watermark; answers how many it passed. */
export async function indexUpstreamIds(tx: Kysely<Schema>, lastSeq: number): Promise<number> {
  const from = Number((await getMeta(tx, watermarkKey)) ?? '0')
  const last = Math.min(lastSeq, endOfSegment(from + 1))
  if (last <= from) return 0
  // Sorted, and inside the engine: no row travels through this process.
  await sql`
    INSERT INTO upstream_ids (segment, upstream_request_id, seq)
    SELECT seq / CAST(${segmentRows} AS bigint), upstream_request_id, seq FROM requests
    WHERE seq > ${from} AND seq <= ${last} AND upstream_request_id IS NOT NULL
    ORDER BY upstream_request_id, seq
    ON CONFLICT DO NOTHING`.execute(tx)
  await setMeta(tx, watermarkKey, String(last))
  return last - from
}

const endOfSegment = (seq: number) => (Math.floor(seq / segmentRows) + 1) * segmentRows - 1
