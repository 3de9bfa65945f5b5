// The journal of records of a single gateway, on a disk that survives its processes: two files that take
// turns, as the real ones do. What was written and reported as failed stays until the next batch overwrites it.
import { appliedKey } from '../../src/store/dialects/sqlite/batch-writer.ts'
import type { JournalBatch } from '../../src/store/dialects/sqlite/journal/batch-format.ts'
import type { Stretch } from '../../src/store/dialects/sqlite/journal/journal-files.ts'
import { callColumns } from '../../src/store/rows/call-row.ts'
import type { SimDatabase } from './database.ts'
import { rowsOf } from './write-batch.ts'

/** Small, so that a short world uses both files. */
const turnLength = 6_000

interface Placed {
  readonly from: number
  readonly batch: JournalBatch
}

interface File {
  readonly name: number
  placed: Placed[]
  end: number
  lastNumber: number
  /** Of a batch that was reported as not written: the next one overwrites it. */
  hasRemains: boolean
}

export class RecordDisk {
  #current = newFile(0)
  #other = newFile(1)

  /** Where the next batch goes. */
  place(appliedNumber: number): number {
    const isOver = this.#current.end > turnLength && !this.#current.hasRemains
    if (isOver && this.#other.lastNumber <= appliedNumber) {
      ;[this.#current, this.#other] = [this.#other, this.#current]
      this.#current.end = 0
    }
    this.#current.hasRemains = true
    return this.#current.end
  }

  /** Overwrites what is there; it counts once it is kept. */
  write(batch: JournalBatch, from: number): void {
    const placed = this.#current.placed.filter((each) => each.from < from)
    this.#current.placed = [...placed, { from, batch }]
  }

  keep(batch: JournalBatch, from: number): Stretch {
    const { requests, losses, number } = batch
    const to = from + requests.length + losses.length
    Object.assign(this.#current, { end: to, lastNumber: number, hasRemains: false })
    return { file: this.#current.name, from, to }
  }

  read({ file, from, to }: Stretch): JournalBatch[] {
    const { placed } = this.#current.name === file ? this.#current : this.#other
    return placed.filter((each) => each.from >= from && each.from < to).map(({ batch }) => batch)
  }

  /** Batches that the database does not have, in order. */
  missingIn(db: SimDatabase): JournalBatch[] {
    const applied = appliedIn(db)
    return [...this.#current.placed, ...this.#other.placed]
      .map(({ batch }) => batch)
      .filter(({ number }) => number > applied)
      .sort((a, b) => a.number - b.number)
  }

  /** Those of them whose records were reported as stored. */
  owedTo(db: SimDatabase): JournalBatch[] {
    const last = Math.max(this.#current.lastNumber, this.#other.lastNumber)
    return this.missingIn(db).filter(({ number }) => number <= last)
  }

  /** As at a start: the database has everything. */
  empty(): void {
    this.#current = newFile(0)
    this.#other = newFile(1)
  }

  /** What records that are owed add to the balance of an account. */
  owedNanos(db: SimDatabase, accountId: string): bigint {
    return this.owedTo(db)
      .flatMap(({ requests }) => callsIn(requests))
      .filter((call) => isCharged(call) && call.account_id === accountId && !isStored(db, call))
      .reduce((sum, { charge_nanos }) => sum - BigInt(charge_nanos), 0n)
  }

  /** The detail of a record that is owed and charged. */
  chargedDetail(db: SimDatabase, requestId: string): string | undefined {
    return this.owedTo(db)
      .flatMap(({ requests }) => callsIn(requests))
      .find((call) => call.request_id === requestId && isCharged(call))?.detail
  }
}

const newFile = (name: number): File => ({
  ...{ name, placed: [], end: 0, lastNumber: 0 },
  hasRemains: false,
})

export function appliedIn(db: SimDatabase): number {
  const key = [appliedKey]
  const { rows } = db.query<{ value: string }>('SELECT value FROM meta WHERE key = ?', key)
  return Number(rows[0]?.value ?? '0')
}

type Call = Record<(typeof callColumns)[number], string>

const isCharged = ({ booked_at_ms }: Call): boolean => booked_at_ms !== ''

const isStored = (db: SimDatabase, { request_id }: Call): boolean =>
  db.query('SELECT 1 FROM requests WHERE request_id = ?', [request_id]).rows.length > 0

const callsIn = (text: string): Call[] =>
  rowsOf(text, callColumns.length).map(
    (cells) => Object.fromEntries(callColumns.map((name, i) => [name, cells[i]!])) as Call,
  )
