// High-water marks: sealed files beside the database, one with an id and a commit count, one with the
// number of the last batch in the journal. A file behind the database is normal (the process was
// killed in between); a database behind a file has lost data. Never waited for.
import type { Database, Statement } from 'bun:sqlite'
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'

export const idKey = 'mark_id'
const countKey = 'mark_count'
/** Distinguishes another master key from a tampered file. */
export const sealKey = 'mark_seal'

/** Fixed length, so that a write replaces all of it. */
const markBytes = 'v1 '.length + 32 + 1 + 16 + 1 + 64 + 1

/** The database has fewer commits than the mark says. */
export const lostCode = 'GATEWAY_LOST'

export interface MarkPlace {
  file: string
  /** Base64, derived from the master key. */
  key: string
}

const sealOf = (key: string, text: string): string =>
  createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('hex')

type Kept = { id: string; count: number } | 'unreadable' | undefined

/** What a mark counts; neither file can stand for the other. */
type Counted = 'commits' | 'batches'

const sealedText = (counted: Counted, id: string, count: string): string =>
  counted === 'commits' ? `${id} ${count}` : `${counted} ${id} ${count}`

function readMark({ file, key }: MarkPlace, counted: Counted): Kept {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const [, id, count, seal] = /^v1 ([0-9a-f]{32}) (\d{16}) ([0-9a-f]{64})\n$/.exec(text) ?? []
  if (id === undefined || count === undefined || seal === undefined) return 'unreadable'
  const expected = sealOf(key, sealedText(counted, id, count))
  const isOurs = timingSafeEqual(Buffer.from(seal), Buffer.from(expected))
  return isOurs ? { id, count: Number(count) } : 'unreadable'
}

/** Throws when the mark proves a loss; `db` is undefined when there is no database file. */
export function checkMark(place: MarkPlace, db: Database | undefined): void {
  const kept = readMark(place, 'commits')
  if (kept === undefined) return
  const id = db && metaOf(db, idKey)
  const seal = db && metaOf(db, sealKey)
  // A database of another master key is refused elsewhere, with a message about the key.
  if (seal !== undefined && seal !== sealOf(place.key, sealKey)) return
  const isWhole =
    kept !== 'unreadable' && id === kept.id && Number(metaOf(db!, countKey)) >= kept.count
  if (isWhole) return
  const what = kept === 'unreadable' ? 'the mark cannot be read' : 'commits are missing'
  throw Object.assign(new Error(what), { code: lostCode })
}

/** Throws when the mark proves that batches of the journal are missing. */
export function checkJournalMark(
  place: MarkPlace,
  { id, seal, number }: { id: string | undefined; seal: string | undefined; number: number },
): void {
  const kept = readMark(place, 'batches')
  if (kept === undefined || (seal !== undefined && seal !== sealOf(place.key, sealKey))) return
  if (kept !== 'unreadable' && id === kept.id && number >= kept.count) return
  throw Object.assign(new Error('batches of the journal are missing'), { code: lostCode })
}

function metaOf(db: Database, key: string): string | undefined {
  try {
    const row = db.query('SELECT value FROM meta WHERE key = ?').get(key)
    return (row as { value: string } | null)?.value
  } catch (error) {
    if ((error as Error).message.includes('no such table')) return undefined
    throw error
  }
}

/** Keeps one mark up to date. */
export class MarkFile {
  readonly #id: string
  readonly #key: string
  readonly #counted: Counted
  readonly #file: number

  constructor({ file, key }: MarkPlace, id: string, counted: Counted) {
    this.#id = id
    this.#key = key
    this.#counted = counted
    this.#file = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600)
  }

  write(count: number): void {
    const digits = String(count).padStart(16, '0')
    const seal = sealOf(this.#key, sealedText(this.#counted, this.#id, digits))
    try {
      writeSync(this.#file, `v1 ${this.#id} ${digits} ${seal}\n`, 0)
    } catch {
      // Disk full: the old mark is behind, which proves less but nothing false.
    }
  }

  /** Removes what an earlier file had more. */
  trim(): void {
    ftruncateSync(this.#file, markBytes)
  }

  close(): void {
    closeSync(this.#file)
  }
}

export class HighWaterMark {
  readonly id: string
  readonly #file: MarkFile
  readonly #update: Statement
  #count: number

  /** The tables must exist. Creates a mark, or continues the existing one. */
  constructor(db: Database, place: MarkPlace) {
    const put = db.prepare('INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO NOTHING')
    db.run('BEGIN IMMEDIATE')
    put.run(idKey, randomBytes(16).toString('hex'))
    put.run(countKey, '0')
    put.run(sealKey, sealOf(place.key, sealKey))
    db.run('COMMIT')
    put.finalize()
    this.id = metaOf(db, idKey)!
    this.#count = Number(metaOf(db, countKey))
    this.#update = db.prepare(`UPDATE meta SET value = ? WHERE key = '${countKey}'`)
    this.#file = new MarkFile(place, this.id, 'commits')
    this.committed()
    this.#file.trim()
  }

  /** Called in every transaction, before it commits. */
  count(): void {
    this.#update.run(String(++this.#count))
  }

  committed(): void {
    this.#file.write(this.#count)
  }

  close(): void {
    this.#update.finalize()
    this.#file.close()
  }
}
