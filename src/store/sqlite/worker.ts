// A database thread: owns one SQLite connection and does what it is told, in order. It waits for
// the disk so that the main thread never does. Knows no domain words but those of the hot batch.
import { Database, type SQLQueryBindings, type Statement } from 'bun:sqlite'
import { cellsOf } from '../hot-queue.ts'
import { shapeIntegers } from '../integers.ts'
import { indexNextSegment } from '../late-index.ts'
import type { Store } from '../store.ts'
import { BatchWriter } from './batch-writer.ts'
import { Booker } from './booker.ts'
import { kyselyOverThread } from './dialect.ts'
import type { Asked, Failure, Question, Rows } from './messages.ts'
import { Mutex } from './mutex.ts'

declare const self: Worker

const busyTimeoutMs = 5000
/** Long enough for a gateway that is just stopping, short enough to be told soon. */
const lockTimeoutMs = 1000
const maxStatements = 256
/** 16 MB of log or so between two checkpoints. */
const checkpointPages = 4000

let db: Database | undefined
let lock: Database | undefined
let writer: BatchWriter | undefined
let booker: Booker | undefined
const statements = new Map<string, Statement>()
/** Never leaves the turn of the question it belongs to: whoever asks holds the writer. */
const own = kyselyOverThread(async (question) => await answer(question), {
  mutex: new Mutex(),
  failed: () => {},
})

self.onmessage = async (event: MessageEvent<Asked>) => {
  const { id } = event.data
  try {
    const rows = await answer(event.data)
    self.postMessage(rows === undefined ? id : { id, rows })
  } catch (error) {
    self.postMessage({ id, failure: describe(error) })
  }
}

function answer(question: Question): Rows | undefined | Promise<Rows> {
  if (question.kind === 'open') return open(question)
  if (question.kind === 'close') return close()
  if (db === undefined) throw new Error('the database is not open')
  switch (question.kind) {
    case 'batch':
      // Prepared on first use: its tables exist only once the migrations have run.
      writer ??= new BatchWriter(db)
      writer.write(cellsOf(question.requests), cellsOf(question.entries), cellsOf(question.losses))
      return undefined
    case 'book':
      booker ??= new Booker(db)
      return oneRow({ ...booker.book(question.limit) })
    case 'index':
      return index(question.settledSeq)
    case 'query':
      return query(db, question.sql, question.parameters)
    case 'rollback':
      // SQLite ends the transaction by itself after some errors; a second end would be one more.
      if (db.inTransaction) db.run('ROLLBACK')
      return undefined
  }
}

async function index(settledSeq: number): Promise<Rows> {
  const tx: Store['tx'] = (work) => own.transaction().execute(work)
  return oneRow({ indexed: await indexNextSegment({ engine: 'sqlite', tx }, settledSeq) })
}

const oneRow = (row: Record<string, unknown>): Rows => ({ rows: [row], changes: 0 })

function open({ role, file, lockFile }: Question & { kind: 'open' }): undefined {
  if (role === 'reader') {
    db = connect(file)
    db.run('PRAGMA query_only = ON')
    return
  }
  about(lockFile, () => {
    lock = new Database(lockFile, { create: true, readwrite: true })
    lock.run(`PRAGMA busy_timeout = ${lockTimeoutMs}`)
    // The kernel drops this lock with the process, however the process ends.
    lock.run('BEGIN EXCLUSIVE')
  })
  about(file, () => {
    db = connect(file)
    db.run('PRAGMA journal_mode = WAL')
    db.run('PRAGMA synchronous = FULL')
    // A page that changes in every batch is then copied back once in a while, not all the time.
    db.run(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
    // Without it INSERT OR REPLACE would get past the triggers that keep the ledger append-only.
    db.run('PRAGMA recursive_triggers = ON')
    db.prepare('SELECT count(*) FROM sqlite_master').get()
  })
}

function connect(file: string): Database {
  const connection = new Database(file, { create: true, readwrite: true, safeIntegers: true })
  connection.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  return connection
}

function about(file: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    throw Object.assign(error as Error, { file })
  }
}

function query(db: Database, sql: string, parameters: readonly unknown[]): Rows {
  let statement = statements.get(sql)
  if (statement === undefined) {
    if (statements.size >= maxStatements) {
      for (const old of statements.values()) old.finalize()
      statements.clear()
    }
    statement = db.prepare(sql)
    statements.set(sql, statement)
  }
  const bindings = parameters as SQLQueryBindings[]
  if (statement.columnNames.length === 0) {
    const { changes } = statement.run(...bindings)
    return { rows: [], changes }
  }
  const rows = statement.all(...bindings) as Record<string, unknown>[]
  shapeIntegers(rows)
  return { rows, changes: rows.length }
}

function close(): undefined {
  writer?.close()
  booker?.close()
  for (const statement of statements.values()) statement.finalize()
  // Closing alone leaves this to whoever collects the last statement, which may be nobody.
  if (lock !== undefined) db?.run('PRAGMA wal_checkpoint(TRUNCATE)')
  db?.close()
  lock?.close()
}

function describe(error: unknown): Failure {
  const { code, message, file } = error as { code?: string; message?: string; file?: string }
  const failure = { code: code ?? 'SQLITE_ERROR', message: message ?? String(error) }
  return file === undefined ? failure : { ...failure, file }
}
