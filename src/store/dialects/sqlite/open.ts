// The SQLite dialect: a writer thread that also holds the data directory's lock, and a separate
// reader thread, so that a slow report never delays a commit.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { SteadyClock } from '../../../lib/clock.ts'
import { LogIndexer, type LogIndexerLimits } from '../../log/indexer.ts'
import { migrate } from '../../migrations/index.ts'
import type { Booked } from '../../proof/receipt-pass.ts'
import { setMeta } from '../../sql/meta.ts'
import { type Log, once, type Store } from '../../store.ts'
import { ClockKeeper } from '../clock-keeper.ts'
import { codeOf } from '../errors.ts'
import { GroupCommit } from '../group-commit.ts'
import { Health } from '../health.ts'
import { type Ask, kyselyOverThread } from './dialect.ts'
import type { Question } from './messages.ts'
import { Mutex } from './mutex.ts'
import { refusalFor } from './refusals.ts'
import { openSnapshots } from './snapshots.ts'
import { DatabaseThread } from './thread.ts'

interface SqliteOptions {
  dataDir: string
  /** Schema version to migrate to; absent: the newest. */
  schema?: number | undefined
  log: Log
  logIndexer: LogIndexerLimits
  /** Base64; with it, the store detects data lost from the database. */
  markKey?: string | undefined
}

export const markFile = 'gateway.mark'

/** The machine's clock is the only one: its drift is followed, a step is not. */
const slewEveryMs = 5_000

const brokenDisk = /^SQLITE_(FULL|IOERR|READONLY|CORRUPT|NOTADB|CANTOPEN)/

export async function openSqlite({
  dataDir,
  schema,
  log,
  logIndexer,
  markKey,
}: SqliteOptions): Promise<Store> {
  const file = join(dataDir, 'gateway.db')
  const mark = markKey === undefined ? undefined : { file: join(dataDir, markFile), key: markKey }
  const writerThread = new DatabaseThread()
  const mutex = new Mutex()
  const clock = new SteadyClock()
  const health = new Health(() => tx((db) => setMeta(db, 'probe', String(clock.nowMs()))), log)
  const failed = (error: unknown) => health.failed(error)

  const askWriter: Ask = async (question) => {
    try {
      return await writerThread.ask(question)
    } catch (error) {
      if (brokenDisk.test(codeOf(error))) failed(error)
      throw error
    }
  }
  const writer = kyselyOverThread(askWriter, { mutex, failed })
  const tx: Store['tx'] = (work) => writer.transaction().execute(work)
  const clockKeeper = new ClockKeeper({ tx }, clock)

  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const lockFile = join(dataDir, 'gateway.lock')
    await writerThread.ask({ kind: 'open', role: 'writer', file, lockFile, mark })
    await migrate({ dialect: 'sqlite', name: file, tx }, schema)
    // A real write reports now what the first paying caller would otherwise discover.
    await clockKeeper.start()
  } catch (error) {
    health.stop()
    await writerThread.close().catch(() => {})
    throw refusalFor(error, dataDir, file)
  }

  const slewing = setInterval(() => clock.slew(slewEveryMs), slewEveryMs)
  slewing.unref()
  const inTurn = <T>(question: Question) => askInTurn<T>(question, mutex, askWriter)
  const next = async (settledSeq: number) =>
    (await inTurn<{ indexed: boolean }>({ kind: 'index', settledSeq })).indexed
  const index = new LogIndexer({ dialect: 'sqlite', tx, next, log }, logIndexer)
  const queue = new GroupCommit(async ({ requests, entries, losses, size }) => {
    const turn = mutex.lock()
    if (turn !== undefined) await turn
    try {
      await writerThread.ask({
        kind: 'batch',
        requests,
        entries,
        losses,
      })
      health.wrote()
      index.recorded(size)
    } catch (error) {
      failed(error)
      throw error
    } finally {
      mutex.unlock()
    }
  })
  const reader = lazyReader(file)
  const snapshots = openSnapshots(file)

  return {
    dialect: 'sqlite',
    clock,
    read: kyselyOverThread(reader.ask),
    tx,
    book: (limit) => inTurn<Booked>({ kind: 'book', limit }),
    record: (request, entry) => queue.add(request, entry),
    commits: queue.commits,
    ...(mark && { watchLoss: () => inTurn({ kind: 'mark', mark }) }),
    snapshot: snapshots.open,
    get healthy() {
      return health.healthy
    },
    close: once(async () => {
      clearInterval(slewing)
      health.stop()
      await index.stop()
      await queue.close()
      await clockKeeper.stop()
      await mutex.lock()
      await reader.close()
      await snapshots.close()
      await writerThread.close()
    }),
  }
}

/** Runs a request of the writer thread under the mutex. */
async function askInTurn<T>(question: Question, mutex: Mutex, ask: Ask): Promise<T> {
  await mutex.lock()
  try {
    const answer = await ask(question)
    return answer!.rows[0] as T
  } finally {
    mutex.unlock()
  }
}

/** How long the reader thread stays after the last query. */
const readerIdleMs = 10_000

/** A thread costs memory: it starts with the first read and stops when reads cease. */
function lazyReader(file: string): { ask: Ask; close(): Promise<void> } {
  let thread: DatabaseThread | undefined
  let opened: Promise<unknown> = Promise.resolve()
  let asking = 0
  let idle: ReturnType<typeof setTimeout> | undefined
  let closed = false
  const end = async () => {
    const old = thread
    thread = undefined
    await old?.close()
  }
  return {
    async ask(question) {
      if (closed) throw new Error('the store is closed')
      clearTimeout(idle)
      asking++
      try {
        if (thread === undefined) {
          thread = new DatabaseThread()
          opened = thread.ask({ kind: 'open', role: 'reader', file })
        }
        const current = thread
        await opened
        return await current.ask(question)
      } finally {
        if (--asking === 0 && !closed) {
          clearTimeout(idle)
          idle = setTimeout(() => void end().catch(() => {}), readerIdleMs)
          idle.unref()
        }
      }
    },
    async close() {
      closed = true
      clearTimeout(idle)
      await end()
    },
  }
}
