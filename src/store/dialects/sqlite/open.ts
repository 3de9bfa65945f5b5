// The SQLite dialect: a writer thread that also holds the data directory's lock, and a separate
// reader thread, so that a slow report never delays a commit.
import { join } from 'node:path'
import { SteadyClock } from '../../../lib/clock.ts'
import { makeDirectory } from '../../../lib/disk.ts'
import { LogIndexer, type LogIndexerLimits } from '../../log/indexer.ts'
import { migrate } from '../../migrations/index.ts'
import { setMeta } from '../../sql/meta.ts'
import { type Log, once, type Store } from '../../store.ts'
import { ClockKeeper } from '../clock-keeper.ts'
import { codeOf } from '../errors.ts'
import { GroupCommit } from '../group-commit.ts'
import { Health } from '../health.ts'
import { type Ask, kyselyOverThread } from './dialect.ts'
import { MarkFile, type MarkPlace } from './high-water-mark.ts'
import { journalNames } from './journal/journal-files.ts'
import { RecordJournal } from './journal/record-journal.ts'
import { noteJournalMark, type OpenedJournal, openJournal } from './journal/replay.ts'
import type { Question } from './messages.ts'
import { Mutex, type Turns } from './mutex.ts'
import { Reader } from './reader.ts'
import { refusalFor } from './refusals.ts'
import { Snapshots } from './snapshots.ts'
import { DatabaseThread } from './thread.ts'

interface SqliteOptions {
  dataDir: string
  /** Schema version to migrate to; absent: the newest. */
  schema?: number | undefined
  log: Log
  logIndexer: LogIndexerLimits
  /** Base64; with it, the store detects data lost from the database. */
  markKey?: string | undefined
  /** The thread that writes has ended by a defect: nothing can be written until the process starts again. */
  died?: ((error: Error) => void) | undefined
}

/** Removed with a database that is replaced: they belong to the former one. */
export const besideDatabase = ['gateway.mark', 'gateway.journal-mark', ...journalNames] as const
const [markFile, journalMarkFile] = besideDatabase

const setAside = 'they are kept in the table meta, under keys that begin with journal_refused_'

/** The machine's clock is the only one: its drift is followed, a step is not. */
const slewEveryMs = 5_000

const brokenDisk = /^SQLITE_(FULL|IOERR|READONLY|CORRUPT|NOTADB|CANTOPEN)/

export async function openSqlite({
  dataDir,
  schema,
  log,
  logIndexer,
  markKey,
  died,
}: SqliteOptions): Promise<Store> {
  const file = join(dataDir, 'gateway.db')
  const mark = markKey === undefined ? undefined : { file: join(dataDir, markFile), key: markKey }
  const journalMark = mark && { ...mark, file: join(dataDir, journalMarkFile), besides: mark.file }
  const writerThread = new DatabaseThread(died)
  const clock = new SteadyClock()
  /** Healthy is what can append to the journal and apply it: one without the other helps no caller. */
  const health = new Health(async () => {
    await queue.probe()
    await tx((db) => setMeta(db, 'probe', String(clock.nowMs())))
  }, log)
  const failed = (error: unknown) => health.failed(error)

  const askWriter: Ask = async (question) => {
    try {
      return await writerThread.ask(question)
    } catch (error) {
      if (brokenDisk.test(codeOf(error))) failed(error)
      throw error
    }
  }
  const mutex = new Mutex()
  let turns: Turns = mutex
  const writer = kyselyOverThread(askWriter, {
    mutex: { lock: () => turns.lock(), unlock: () => turns.unlock() },
    failed,
  })
  const tx: Store['tx'] = (work) => writer.transaction().execute(work)
  const clockKeeper = new ClockKeeper({ tx }, clock)
  const apply = async (question: Question) => {
    const answer = await askWriter(question)
    const refused = answer?.rows[0]?.['refused']
    if (refused !== undefined) log('error', `the database refused ${refused} records: ${setAside}`)
  }
  let opened!: OpenedJournal

  try {
    makeDirectory(dataDir, 0o700)
    const lockFile = join(dataDir, 'gateway.lock')
    await writerThread.ask({ kind: 'open', role: 'writer', file, lockFile, mark })
    await migrate({ dialect: 'sqlite', name: file, tx }, schema)
    opened = await openJournal({
      ...{ dataDir, tx, mark: journalMark, log },
      apply: (batch) => apply({ kind: 'replay', ...batch }),
    })
    // A real write reports now what the first paying caller would otherwise discover.
    await clockKeeper.start()
  } catch (error) {
    health.stop()
    opened?.files.close()
    await writerThread.close().catch(() => {})
    throw refusalFor(error, dataDir, file)
  }

  const slewing = setInterval(() => clock.slew(slewEveryMs), slewEveryMs)
  slewing.unref()
  const inTurn = <T>(question: Question) => askInTurn<T>(question, journal, askWriter)
  const next = async (settledSeq: number) =>
    (await inTurn<{ indexed: boolean }>({ kind: 'index', settledSeq })).indexed
  const index = new LogIndexer({ dialect: 'sqlite', tx, next, log }, logIndexer)
  const journal = new RecordJournal({
    files: opened.files,
    appliedNumber: opened.number,
    mutex,
    apply: (stretch, number) =>
      apply({ kind: 'apply', ...stretch, salt: opened.files.salt, number }),
    applied: (records) => index.recorded(records),
    failed,
  })
  turns = journal
  const queue = new GroupCommit(async (batch) => {
    try {
      await journal.write(batch)
    } catch (error) {
      failed(error)
      throw error
    }
  })
  let batches: MarkFile | undefined
  const watchLoss = async (place: MarkPlace) => {
    try {
      const { id } = await inTurn<{ id: string }>({ kind: 'mark', mark: place })
      const kept = new MarkFile(journalMark!, id, 'batches', journal.lastNumber)
      batches = kept
      journal.watch((number) => kept.write(number))
      await noteJournalMark(tx)
    } catch (error) {
      throw refusalFor(error, dataDir, file)
    }
  }
  const reader = new Reader(file)
  const snapshots = new Snapshots(file, log)
  /** Reads see every record before them; while the database cannot be written, those it has. */
  const settled = () => journal.settle()?.catch(() => {})

  return {
    dialect: 'sqlite',
    clock,
    read: kyselyOverThread(async (question) => {
      await settled()
      return reader.ask(question)
    }),
    tx,
    record: (call) => queue.add(call),
    commits: queue.commits,
    ...(mark && { watchLoss: () => watchLoss(mark) }),
    async snapshot() {
      await settled()
      return snapshots.open()
    },
    get healthy() {
      return health.healthy
    },
    close: once(async () => {
      clearInterval(slewing)
      health.stop()
      await index.stop()
      await queue.close()
      await clockKeeper.stop()
      await journal.close()
      batches?.close()
      await mutex.lock()
      await reader.close()
      await snapshots.close()
      await writerThread.close()
    }),
  }
}

/** Runs a request of the writer thread under the mutex. */
async function askInTurn<T>(question: Question, turns: Turns, ask: Ask): Promise<T> {
  await turns.lock()
  try {
    const answer = await ask(question)
    return answer!.rows[0] as T
  } finally {
    turns.unlock()
  }
}
