// The journal on disk: two files that take turns. A batch is durable once it is appended; a file is
// used again from its start when the database has everything in it. Knows no rows, no database.
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  write,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { BatchEncoder, batchesIn, type JournalBatch, type RowTexts } from './batch-format.ts'

export const journalNames = ['gateway.journal-a', 'gateway.journal-b'] as const

/** A file that is larger lets the other one take over as soon as it can. */
const turnBytes = 4 * 1024 * 1024

/** A write returns when its data is on the disk. */
const durable = constants.O_DSYNC ?? constants.O_SYNC

/** Columns of the rows, by table. A newer gateway may have others. */
export type Columns = Readonly<Record<keyof RowTexts, readonly string[]>>

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
  batches: JournalBatch[]
}

/** What the files hold. A file that is not there, or has no complete first line, holds nothing. */
export function* readJournal(dataDir: string): Generator<Written> {
  for (const name of journalNames) {
    const file = join(dataDir, name)
    const bytes = readIfThere(file)
    const head = headIn(bytes.toString('utf8', 0, headBytes))
    if (head === undefined) continue
    const batches = [...batchesIn(bytes.subarray(headBytes), BigInt(head.salt))]
    yield { file, databaseId: head.databaseId, columns: head.columns, batches }
  }
}

function readIfThere(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
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
  readonly file: string
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
    const [a, b] = journalNames.map((name) => new JournalFile(join(dataDir, name), head))
    this.#current = a!
    this.#other = b!
    syncDirectory(dataDir)
  }

  /** Durable when it resolves. `appliedNumber`: the last batch that the database has. */
  append(batch: JournalBatch, appliedNumber: number): Promise<Stretch> {
    if (this.#current.size > turnBytes && this.#other.lastNumber <= appliedNumber) {
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
  readonly #path: string
  readonly #file: number
  size = headBytes
  lastNumber = 0

  constructor(path: string, head: Buffer) {
    this.#path = path
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT | durable, 0o600)
    // Kept as large as it was: a write that does not change the size is cheaper to make durable.
    if (fstatSync(this.#file).size > 2 * turnBytes) ftruncateSync(this.#file, turnBytes)
    // With another salt: no earlier batch can be read from here on.
    writeSync(this.#file, head, 0)
  }

  append(bytes: Buffer, number: number): Promise<Stretch> {
    return new Promise((resolve, reject) => {
      const from = this.size
      write(this.#file, bytes, 0, bytes.length, from, (error, written) => {
        if (error !== null && error !== undefined) return reject(error)
        if (written < bytes.length) return reject(diskFull())
        this.size += bytes.length
        this.lastNumber = number
        resolve({ file: this.#path, from, to: this.size })
      })
    })
  }

  /** Batches that remain behind the next one have smaller numbers. */
  rewind(): void {
    this.size = headBytes
  }

  close(): void {
    closeSync(this.#file)
  }
}

const diskFull = () =>
  Object.assign(new Error('the journal was not written completely'), { code: 'ENOSPC' })

/** New names are durable only with their directory. */
function syncDirectory(path: string): void {
  const directory = openSync(path, constants.O_RDONLY)
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
