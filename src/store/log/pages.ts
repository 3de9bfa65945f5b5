// A page of the request log by any filter, newest first, without reading rows outside the page:
// complete segments list the rows of each value. Rows after the last segment are scanned. Both are
// bounded, so a page may be short and still have a next one.
import { type Kysely, type Selectable, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import { type Ids, matchingRows } from './matching.ts'
import {
  type FoundSegment,
  type LogFilter,
  padded,
  segmentsWith,
  segmentsWithin,
} from './search.ts'
import { firstSeqOf, lastSeqOf, segmentOf } from './segments.ts'
import { indexedSeq } from './watermark.ts'

type LogRowFull = Selectable<Schema['requests']>

interface LogWalk {
  filter: LogFilter
  limit: number
  /** Only rows below this number. */
  before: number
}

interface LogPage {
  rows: LogRowFull[]
  /** Cursor of the next page; absent at the end. */
  before?: number
}

/** Rows scanned one by one for one page. */
const maxScanned = 49_152
const scannedAtOnce = 8_192
/** Segments queried for one page: those of 33 million rows. */
const maxSegments = 8_192
/** Segments queried at once; grows while nothing is found. */
const firstSegments = 8
const maxSegmentsRead = 128
/** A page that takes longer is cut short, as on a busy machine. */
const maxMs = 60

export async function pageOfLog(
  db: Kysely<Schema>,
  walk: LogWalk,
  limitMs = maxMs,
): Promise<LogPage> {
  const state = new Walk(db, walk, limitMs)
  // Read first: rows indexed meanwhile are still found by the scan.
  const indexed = await indexedSeq(db)
  if (!(await state.readTail(indexed))) return state.page()
  await state.readSegments(Math.min(walk.before - 1, indexed))
  return state.page()
}

class Walk {
  readonly #db: Kysely<Schema>
  readonly #walk: LogWalk
  readonly #limitMs: number
  readonly #rows: LogRowFull[] = []
  /** Every row from here on has been considered. */
  #considered: number
  #scanned = 0
  readonly #startMs = performance.now()
  #ended = false

  constructor(db: Kysely<Schema>, walk: LogWalk, limitMs: number) {
    this.#db = db
    this.#walk = walk
    this.#limitMs = limitMs
    this.#considered = walk.before
  }

  async page(): Promise<LogPage> {
    const { limit } = this.#walk
    const rows = this.#rows.slice(0, limit)
    if (this.#rows.length > limit) return { rows, before: rows.at(-1)!.seq }
    return this.#ended || !(await this.#hasMore()) ? { rows } : { rows, before: this.#considered }
  }

  /** A page that was cut short at the very end of the log is the last one. */
  async #hasMore(): Promise<boolean> {
    const older = this.#db.selectFrom('requests').select('seq').where('seq', '<', this.#considered)
    return (await older.orderBy('seq', 'desc').limit(1).executeTakeFirst()) !== undefined
  }

  /** One more than is shown tells whether there is a next page. */
  get #missing(): number {
    return this.#walk.limit + 1 - this.#rows.length
  }

  get #isEnough(): boolean {
    return this.#scanned >= maxScanned || performance.now() - this.#startMs > this.#limitMs
  }

  /** Scans the rows after the last segment; false when the page needs no more. */
  async readTail(indexed: number): Promise<boolean> {
    let top = Math.min(this.#considered - 1, await this.#newestSeq())
    while (top > indexed) {
      const from = Math.max(indexed + 1, top - scannedAtOnce + 1)
      await this.#scan(from, top)
      if (this.#missing === 0) return false
      top = from - 1
      this.#considered = from
      if (this.#isEnough) return false
    }
    return true
  }

  async readSegments(topSeq: number): Promise<void> {
    const { oldest, newest } = await segmentsWithin(this.#db, this.#walk.filter)
    const picked = new Picked()
    let [asked, size] = [0, firstSegments]
    for (let top = Math.min(newest, segmentOf(topSeq)); top >= oldest; ) {
      const bottom = Math.max(oldest, top - size + 1)
      for (const found of await segmentsWith(this.#db, this.#walk.filter, bottom, top)) {
        await this.#take(found, picked)
        if (picked.size >= this.#missing) await this.#fetch(picked)
        if (this.#missing === 0) return
        this.#considered = firstSeqOf(found.segment)
        if (this.#isEnough) return this.#fetch(picked)
      }
      asked += top - bottom + 1
      this.#considered = firstSeqOf(bottom)
      // The oldest segment of the time that was asked for has been read: the rest is none of it.
      if (bottom === oldest) break
      if (asked >= maxSegments || this.#isEnough) return this.#fetch(picked)
      top = bottom - 1
      size = Math.min(maxSegmentsRead, size * 4)
    }
    await this.#fetch(picked)
    this.#ended = true
  }

  /** Rows of one segment: those with the wanted values, or all in the time range. */
  async #take(found: FoundSegment, picked: Picked): Promise<void> {
    const { fromId, toId } = this.#walk.filter
    const { segment, from_id, until_id, places } = found
    const isWhole =
      (fromId === undefined || from_id >= fromId) && (toId === undefined || until_id < toId)
    if (places !== undefined && isWhole) {
      const seqs = places.map((place) => firstSeqOf(segment) + place)
      picked.add(seqs, this.#walk.before, from_id, until_id)
      return
    }
    // In order: rows picked before are newer.
    await this.#fetch(picked)
    if (this.#missing > 0) await this.#scan(firstSeqOf(segment), lastSeqOf(segment), found)
  }

  /** Rows in a range that pass the filter. */
  async #scan(from: number, upTo: number, ids?: Ids): Promise<void> {
    const top = Math.min(upTo, this.#walk.before - 1)
    this.#scanned += Math.max(0, top - from + 1)
    const query = matchingRows(this.#db, this.#walk.filter, ids)
      .where('seq', '>=', from)
      .where('seq', '<=', top)
    this.#rows.push(...(await query.orderBy('seq', 'desc').limit(this.#missing).execute()))
  }

  /** Reads as many picked rows as are missing; some may be gone, or fail the full filter. */
  async #fetch(picked: Picked): Promise<void> {
    while (this.#missing > 0 && picked.size > 0) {
      const ids = { from_id: picked.fromId, until_id: picked.untilId }
      const [first, ...others] = picked.take(this.#missing)
      const query = matchingRows(this.#db, this.#walk.filter, ids).where(
        'seq',
        'in',
        padded([first!, ...others]),
      )
      this.#rows.push(...(await query.orderBy('seq', 'desc').execute()))
    }
  }

  async #newestSeq(): Promise<number> {
    const { rows } = await sql<{ seq: number }>`
      SELECT seq FROM requests ORDER BY seq DESC LIMIT 1`.execute(this.#db)
    return rows[0]?.seq ?? 0
  }
}

/** Wanted rows that are not yet read, newest first. */
class Picked {
  #seqs: number[] = []
  fromId = ''
  untilId = ''

  get size(): number {
    return this.#seqs.length
  }

  add(seqs: readonly number[], before: number, fromId: string, untilId: string): void {
    const wanted = seqs.filter((seq) => seq < before)
    if (wanted.length === 0) return
    if (this.#seqs.length === 0) [this.fromId, this.untilId] = [fromId, untilId]
    if (fromId < this.fromId) this.fromId = fromId
    if (untilId > this.untilId) this.untilId = untilId
    this.#seqs.push(...wanted)
  }

  take(count: number): number[] {
    return this.#seqs.splice(0, count)
  }
}
