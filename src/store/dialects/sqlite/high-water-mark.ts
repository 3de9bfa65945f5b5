// High-water marks: sealed files beside the database, one with an id and a commit count, one with the
// number of the last batch in the journal. A file behind the database is normal (the process was
// killed in between), and so is one without content (a power cut); a database behind a file has lost
// data. Durable when made, and never waited for after that.
import type { Database, Statement } from 'bun:sqlite'
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { constants } from 'node:fs'
import { dirname } from 'node:path'
import { disk, diskFull, syncDirectory } from '../../../lib/disk.ts'

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

/** `empty`: its content had not reached the disk, or was to be written again. */
type Kept = { id: string; count: number } | 'unreadable' | 'empty' | undefined

/** What a mark counts; neither file can stand for the other. */
type Counted = 'commits' | 'batches'

const sealedText = (counted: Counted, id: string, count: string): string =>
  counted === 'commits' ? `${id} ${count}` : `${counted} ${id} ${count}`

function readMark({ file, key }: MarkPlace, counted: Counted): Kept {
  let text: string
  try {
    text = disk.readAll(file).toString('utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  if (/^\0*$/.test(text)) return 'empty'
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
  // Nothing to compare with; but a database that was never marked is not the one that was there.
  if (kept === 'empty' && id !== undefined) return
  const isWhole =
    typeof kept === 'object' && id === kept.id && Number(metaOf(db!, countKey)) >= kept.count
  if (isWhole) return
  throw lost(kept === 'unreadable' ? 'the mark cannot be read' : 'commits are missing')
}

const lost = (what: string): Error => Object.assign(new Error(what), { code: lostCode })

/** What the database says about its journal, and what was found of it. */
interface FoundJournal {
  id: string | undefined
  seal: string | undefined
  /** The database has had a journal, with a mark. */
  isMarked: boolean
  /** Both files are there and belong to the database. */
  isThere: boolean
  /** The last batch; undefined when some before it are missing. */
  number: number | undefined
}

/** Throws when the journal is missing, or its mark proves that batches are. */
export function checkJournalMark(place: MarkPlace, found: FoundJournal): void {
  const { id, seal, number } = found
  if (seal !== undefined && seal !== sealOf(place.key, sealKey)) return
  if (found.isMarked && !found.isThere) throw lost('the journal is missing')
  const kept = readMark(place, 'batches')
  if (kept === undefined && found.isMarked) throw lost('the mark of the journal is missing')
  if (number === undefined) throw lost('batches of the journal are missing')
  if (kept === undefined || kept === 'empty') return
  if (kept !== 'unreadable' && id === kept.id && number >= kept.count) return
  throw lost('batches of the journal are missing')
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

  /** Durable, name included, when it returns. */
  constructor({ file, key }: MarkPlace, id: string, counted: Counted, count: number) {
    this.#id = id
    this.#key = key
    this.#counted = counted
    this.#file = disk.open(file, constants.O_RDWR | constants.O_CREAT, 0o600)
    try {
      this.#put(count)
      // What an earlier file had more.
      disk.truncate(this.#file, markBytes)
      disk.sync(this.#file)
      syncDirectory(dirname(file))
    } catch (error) {
      this.close()
      throw error
    }
  }

  write(count: number): void {
    try {
      this.#put(count)
    } catch {
      // Disk full: the old mark is behind, which proves less but nothing false.
    }
  }

  #put(count: number): void {
    const digits = String(count).padStart(16, '0')
    const seal = sealOf(this.#key, sealedText(this.#counted, this.#id, digits))
    const text = `v1 ${this.#id} ${digits} ${seal}\n`
    if (disk.write(this.#file, text, 0) === markBytes) return
    // Half a mark would look like a changed one; one without content proves nothing.
    disk.truncate(this.#file, 0)
    throw diskFull()
  }

  close(): void {
    disk.close(this.#file)
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
    this.#file = new MarkFile(place, this.id, 'commits', this.#count)
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
