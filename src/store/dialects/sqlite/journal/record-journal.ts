// Records of the hot path on their way into the database: appended to the journal, which is cheap
// and makes them durable, then applied to the tables many at a time. Whatever reads or writes the
// database waits until all earlier records are in it, so nothing else sees the difference.
import { crashPoint } from '../../../../lib/crash-point.ts'
import type { Batch } from '../../group-commit.ts'
import type { Mutex } from '../mutex.ts'
import type { JournalFiles, Stretch } from './journal-files.ts'

/** So many records, or bytes of them, are applied at once; fewer after this time. */
const applyRecords = 1024
const applyBytes = 1024 * 1024
const applyMs = 1000
/** After a failure. */
const retryMs = 1000
/** With more bytes than this, a batch waits for the database. */
const maxPendingBytes = 4 * applyBytes

interface Access {
  files: Pick<JournalFiles, 'append' | 'close'>
  /** The last batch that the database has. */
  appliedNumber: number
  mutex: Mutex
  /** Writes the rows of a stretch to the tables, with its last number, in one transaction. */
  apply(stretch: Stretch, number: number): Promise<unknown>
  applied(records: number): void
  failed(error: unknown): void
}

/** Batches in one stretch that are not applied. */
interface Pending {
  readonly file: number
  readonly from: number
  to: number
  number: number
  records: number
}

export class RecordJournal {
  readonly #access: Access
  readonly #pending: Pending[] = []
  /** Has been sent to the database, so nothing is added to it. */
  #applying: Pending | undefined
  #records = 0
  #bytes = 0
  #lastNumber: number
  #appliedNumber: number
  /** An apply that has not begun; it will include everything that is pending by then. */
  #queued: Promise<void> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #marked: (number: number) => void = () => {}

  constructor(access: Access) {
    this.#access = access
    this.#appliedNumber = access.appliedNumber
    this.#lastNumber = access.appliedNumber
  }

  /** Of the last batch. */
  get lastNumber(): number {
    return this.#lastNumber
  }

  /** `marked` is told the number of every batch from here on. */
  watch(marked: (number: number) => void): void {
    this.#marked = marked
  }

  /** One batch at a time; durable when it resolves. */
  async write({ requests, losses, size }: Batch): Promise<void> {
    if (this.#bytes >= maxPendingBytes) await this.#applyInTurn()
    const number = this.#lastNumber + 1
    const batch = { number, requests, losses }
    const stretch = await this.#access.files.append(batch, this.#appliedNumber)
    this.#lastNumber = number
    this.#marked(number)
    crashPoint('records-journaled')
    this.#add(stretch, number, size)
    if (this.#records >= applyRecords || this.#bytes >= applyBytes) this.#applySoon()
    else this.#applyLater(applyMs)
  }

  #add({ file, from, to }: Stretch, number: number, records: number): void {
    this.#records += records
    this.#bytes += to - from
    const last = this.#pending.at(-1)
    const isOpen = last !== undefined && last.records < applyRecords && to - last.from <= applyBytes
    if (isOpen && last !== this.#applying && last.file === file && last.to === from) {
      Object.assign(last, { to, number, records: last.records + records })
    } else this.#pending.push({ file, from, to, number, records })
  }

  /** Undefined when the database has every record. */
  settle(): Promise<void> | undefined {
    return this.#isApplied ? undefined : this.#applyInTurn()
  }

  /** The mutex of the writer; with it, the database has all earlier records. */
  lock(): Promise<void> | undefined {
    const turn = this.#access.mutex.lock()
    return turn === undefined && this.#isApplied ? undefined : this.#locked(turn)
  }

  get #isApplied(): boolean {
    return this.#appliedNumber === this.#lastNumber
  }

  unlock(): void {
    this.#access.mutex.unlock()
  }

  async #locked(turn: Promise<void> | undefined): Promise<void> {
    await turn
    try {
      await this.#applyAll()
    } catch (error) {
      this.unlock()
      throw error
    }
  }

  #applyLater(ms: number): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => this.#applySoon(), ms)
    this.#timer.unref()
  }

  #applySoon(): void {
    // Reported; the records stay in the journal, and the timer tries again.
    this.#applyInTurn().catch(() => {})
  }

  #applyInTurn(): Promise<void> {
    this.#queued ??= this.#waitAndApply()
    return this.#queued
  }

  async #waitAndApply(): Promise<void> {
    const { mutex } = this.#access
    await mutex.lock()
    this.#queued = undefined
    try {
      await this.#applyAll()
    } finally {
      mutex.unlock()
    }
  }

  /** All that there is by now, with the mutex: what comes meanwhile keeps no one waiting. */
  async #applyAll(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const lastNumber = this.#lastNumber
    try {
      while (this.#appliedNumber < lastNumber) await this.#applyNext(this.#pending[0]!)
    } catch (error) {
      this.#applyLater(retryMs)
      this.#access.failed(error)
      throw error
    }
  }

  async #applyNext(next: Pending): Promise<void> {
    const { file, from, to, number, records } = next
    this.#applying = next
    await this.#access.apply({ file, from, to }, number)
    crashPoint('records-applied')
    this.#pending.shift()
    this.#records -= records
    this.#bytes -= to - from
    this.#appliedNumber = number
    this.#access.applied(records)
  }

  /** Leaves nothing in the journal if the database can be written. */
  async close(): Promise<void> {
    await this.settle()?.catch(() => {})
    clearTimeout(this.#timer)
    this.#access.files.close()
  }
}
