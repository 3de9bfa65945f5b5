// Records of a single gateway on their way into its database: the real journal and the real statements, over
// a disk and a database that fail and a process that dies at any moment.
import type { Batch } from '../../src/store/dialects/group-commit.ts'
import { applyRecords } from '../../src/store/dialects/sqlite/journal/apply-records.ts'
import type { JournalBatch } from '../../src/store/dialects/sqlite/journal/batch-format.ts'
import type { Stretch } from '../../src/store/dialects/sqlite/journal/journal-files.ts'
import { RecordJournal } from '../../src/store/dialects/sqlite/journal/record-journal.ts'
import { Mutex } from '../../src/store/dialects/sqlite/mutex.ts'
import { checkCommit } from '../verify/check-commit.ts'
import { type WriteAccess, writeFaulty } from './faulty-write.ts'
import { appliedIn, type RecordDisk } from './record-disk.ts'
import { writerOf } from './write-batch.ts'

type Access = WriteAccess & { disk: RecordDisk }

export class SingleRecords {
  readonly #access: Access
  readonly #mutex = new Mutex()
  #journal: RecordJournal | undefined

  constructor(access: Access) {
    this.#access = access
  }

  /** What the disk has and the database does not is applied first. */
  async open(): Promise<void> {
    const { context, disk, failed } = this.#access
    for (const batch of disk.missingIn(context.db)) await this.#apply(() => [batch], batch.number)
    disk.empty()
    this.#journal = new RecordJournal({
      files: { append: (batch, applied) => this.#append(batch, applied), close() {} },
      appliedNumber: appliedIn(context.db),
      mutex: this.#mutex,
      apply: (stretch, number) => this.#applyStretch(stretch, number),
      applied() {},
      failed,
    })
  }

  write(batch: Batch): Promise<void> {
    return this.#journal!.write(batch)
  }

  /** The database has all earlier records; undefined when it has them already. */
  settle(): Promise<void> | undefined {
    return this.#journal?.settle()
  }

  /** A turn at the database, which has all earlier records then. */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turns = this.#journal ?? this.#mutex
    await turns.lock()
    try {
      return await work()
    } finally {
      turns.unlock()
    }
  }

  async close(): Promise<void> {
    await this.#journal?.close()
  }

  #append(batch: JournalBatch, appliedNumber: number): Promise<Stretch> {
    const { disk, context } = this.#access
    const from = disk.place(appliedNumber)
    return this.#ask('a write to the journal', () => {
      disk.write(batch, from)
      context.world.note(`journals ${batch.number}`, this.#access.proc)
      return () => disk.keep(batch, from)
    })
  }

  #applyStretch(stretch: Stretch, number: number): Promise<void> {
    return this.#apply(() => this.#access.disk.read(stretch), number)
  }

  #apply(batches: () => JournalBatch[], number: number): Promise<void> {
    const { context } = this.#access
    const { db, world } = context
    return this.#ask('a batch of the journal', () => {
      const refused = applyRecords(db.raw, writerOf(db).records, batches, number)
      world.note(`applies records up to ${number}`, this.#access.proc)
      if (refused > 0) world.addViolation(`the database refused ${refused} records`)
      checkCommit(context)
      return () => {}
    })
  }

  #ask<T>(what: string, happen: () => () => T): Promise<T> {
    const { context, proc, wayMs } = this.#access
    return new Promise((resolve, reject) => {
      context.world.after(wayMs(), proc, () =>
        writeFaulty(this.#access, { resolve, reject }, what, happen),
      )
    })
  }
}
