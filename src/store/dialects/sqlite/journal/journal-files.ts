// The journal on disk: two files that take turns. A batch is durable once it is appended; a file is
// used again from its start when the database has everything in it. Knows no rows, no database.
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { join } from 'node:path'
import { disk, diskFull, syncDirectory, writeWhole } from '../../../../lib/disk.ts'
import {
  BatchEncoder,
  batchesIn,
  type JournalBatch,
  type ReadTexts,
  type RowTexts,
} from './batch-format.ts'

export const journalNames = ['gateway.journal-a', 'gateway.journal-b'] as const

/** A file that is larger lets the other one take over as soon as it can. */
const turnBytes = 4 * 1024 * 1024

/** A write returns when its data is on the disk. */
const durable = constants.O_DSYNC ?? constants.O_SYNC

/** Columns of the rows, by table. A newer gateway may have others. */
export type Columns = Readonly<Record<keyof RowTexts, readonly string[]>> & {
  /** Of version 0.3. */
  readonly entries?: readonly string[]
}

/** A file begins with the columns of its rows, in one line that fills this space. */
const headBytes = 4096

interface Head {
  /** The database that these rows are for. */
  databaseId: string
  columns: Columns
  /** In digits. */
  salt: string
}

interface Written {
  file: string
  databaseId: string
  columns: Columns
  batches: (JournalBatch & ReadTexts)[]
}

/** What a file holds; undefined when it is not there, `nothing` without a complete first line. */
export function* readJournal(dataDir: string): Generator<Written | 'nothing' | undefined> {
  for (const name of journalNames) {
    const file = join(dataDir, name)
    const bytes = readIfThere(file)
    const head = bytes && headIn(bytes.toString('utf8', 0, headBytes))
    if (bytes === undefined || head === undefined) {
      yield bytes && 'nothing'
      continue
    }
    const batches = [...batchesIn(bytes.subarray(headBytes), BigInt(head.salt))]
    yield { file, databaseId: head.databaseId, columns: head.columns, batches }
  }
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return disk.readAll(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Undefined when it was not written completely: then nothing was appended to the file. */
function headIn(line: string): Head | undefined {
  if (line.length < headBytes || !line.endsWith('\n')) return undefined
  try {
    return JSON.parse(line) as Head
  } catch {
    return undefined
  }
}

/** Batches that lie one after the other in a file. */
export interface Stretch {
  /** Open in this process for as long as the journal is: reading it later opens nothing. */
  readonly file: number
  readonly from: number
  readonly to: number
}

/** Appends batches, one at a time. What the files held before is discarded. */
export class JournalFiles {
  /** Needed to read them. */
  readonly salt: bigint
  readonly #encoder: BatchEncoder
  #current: JournalFile
  #other: JournalFile

  constructor(dataDir: string, databaseId: string, columns: Columns) {
    const salt = randomBytes(8).readBigUInt64LE()
    this.salt = salt
    const line: Head = { databaseId, columns, salt: String(salt) }
    const head = Buffer.from(`${JSON.stringify(line).padEnd(headBytes - 1)}\n`)
    this.#encoder = new BatchEncoder(salt)
    const [a, b] = journalNames
    this.#current = new JournalFile(join(dataDir, a), head)
    try {
      this.#other = new JournalFile(join(dataDir, b), head)
      syncDirectory(dataDir)
    } catch (error) {
      this.#current.close()
      throw error
    }
  }

  /** Durable when it resolves. `appliedNumber`: the last batch that the database has. */
  append(batch: JournalBatch, appliedNumber: number): Promise<Stretch> {
    const isOver = this.#current.size > turnBytes && !this.#current.hasRemains
    if (isOver && this.#other.lastNumber <= appliedNumber) {
      ;[this.#current, this.#other] = [this.#other, this.#current]
      this.#current.rewind()
    }
    return this.#current.append(this.#encoder.encode(batch), batch.number)
  }

  close(): void {
    this.#current.close()
    this.#other.close()
  }
}

class JournalFile {
  readonly #file: number
  size = headBytes
  lastNumber = 0
  /** Of a batch that was reported as not written: the next one has its number and overwrites it. */
  hasRemains = false

  constructor(path: string, head: Buffer) {
    this.#file = disk.open(path, constants.O_RDWR | constants.O_CREAT | durable, 0o600)
    try {
      // Kept as large as it was: a write that does not change the size is cheaper to make durable.
      if (disk.sizeOf(this.#file) > 2 * turnBytes) disk.truncate(this.#file, turnBytes)
      // With another salt: no earlier batch can be read from here on.
      writeWhole(this.#file, head, 0)
    } catch (error) {
      this.close()
      throw error
    }
  }

  append(bytes: Buffer, number: number): Promise<Stretch> {
    return new Promise((resolve, reject) => {
      const from = this.size
      this.hasRemains = true
      disk.writeLater(this.#file, bytes, 0, bytes.length, from, (error, written) => {
        if (error !== null && error !== undefined) return reject(error)
        if (written < bytes.length) return reject(diskFull())
        this.hasRemains = false
        this.size += bytes.length
        this.lastNumber = number
        resolve({ file: this.#file, from, to: this.size })
      })
    })
  }

  /** Batches that remain behind the next one have smaller numbers. */
  rewind(): void {
    this.size = headBytes
  }

  close(): void {
    disk.close(this.#file)
  }
}
