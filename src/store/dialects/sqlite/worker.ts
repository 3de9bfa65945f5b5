// A database thread: owns one SQLite connection and executes requests in order. It waits for the
// disk so that the main thread never does. Knows no domain words but those of the hot batch.
import { Database, type SQLQueryBindings, type Statement } from 'bun:sqlite'
import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { indexNextSegment } from '../../log/indexer.ts'
import type { Store } from '../../store.ts'
import { shapeIntegers } from '../integers.ts'
import { BatchWriter } from './batch-writer.ts'
import { kyselyOverThread } from './dialect.ts'
import { type DirectoryLock, lockDirectory } from './directory-lock.ts'
import { checkMark, HighWaterMark } from './high-water-mark.ts'
import { applyRecords } from './journal/apply-records.ts'
import type { RowTexts } from './journal/batch-format.ts'
import { StretchReader } from './journal/stretch-reader.ts'
import type { Asked, Failure, Question, Rows } from './messages.ts'
import { Mutex } from './mutex.ts'

declare const self: Worker

const busyTimeoutMs = 5000
/** Long enough for a gateway that is stopping, short enough to report soon. */
const lockTimeoutMs = 1000
const maxStatements = 256
/** WAL pages after which a commit runs a checkpoint: about 4 MB. */
const checkpointPages = 1000
/** A WAL not merged by then gets a separate checkpoint: merged data survives loss of the WAL. */
const checkpointMs = 2_000
/** A WAL that has grown behind a snapshot is cut to this when it is used again from its start. */
const walBytesKept = 64 * 1024 * 1024
/** Of a reader, which ends when it has nothing to do. Sums that need more of it are sorted on the disk. */
const readerCacheKb = 32 * 1024
/** Larger files would delay the start; they are checked while the gateway runs. */
const checkedAtOpenBytes = 64 * 1024 * 1024

let db: Database | undefined
let lock: Database | undefined
let directoryLock: DirectoryLock | undefined
let mark: HighWaterMark | undefined
let merging: ReturnType<typeof setTimeout> | undefined
let writer: BatchWriter | undefined
const journal = new StretchReader()
const statements = new Map<string, Statement>()
/** Runs within the turn of its request, while the caller holds the writer. */
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
    case 'apply':
      return apply(
        db,
        () => journal.read(question, question.salt, question.number),
        question.number,
      )
    case 'replay':
      return apply(db, () => [question], question.number)
    case 'mark':
      mark = new HighWaterMark(db, question.mark)
      return oneRow({ id: mark.id })
    case 'index':
      return index(question.settledSeq)
    case 'query':
      if (question.sql === 'COMMIT') return commit(db)
      return query(db, question.sql, question.parameters)
    case 'rollback':
      // SQLite ends the transaction by itself after some errors; a second rollback would fail.
      if (db.inTransaction) db.run('ROLLBACK')
      return undefined
  }
}

function apply(db: Database, batches: () => Iterable<RowTexts>, number: number): Rows | undefined {
  // Prepared on first use: its tables exist only once the migrations have run.
  writer ??= new BatchWriter(db, () => mark?.count())
  const refused = applyRecords(db, writer, batches, number)
  committed()
  return refused === 0 ? undefined : oneRow({ refused })
}

async function index(settledSeq: number): Promise<Rows> {
  const tx: Store['tx'] = (work) => own.transaction().execute(work)
  return oneRow({ indexed: await indexNextSegment({ dialect: 'sqlite', tx }, settledSeq) })
}

function commit(db: Database): Rows {
  mark?.count()
  const done = query(db, 'COMMIT', [])
  committed()
  return done
}

function committed(): void {
  mark?.committed()
  if (lock !== undefined) merging ??= setTimeout(merge, checkpointMs)
}

/** Copies the WAL into the database file. */
function merge(): void {
  merging = undefined
  if (db === undefined) return
  try {
    if (!db.inTransaction) return void db.run('PRAGMA wal_checkpoint(PASSIVE)')
  } catch {
    // A full or failing disk: the WAL keeps everything. A write reports it, if writes fail, too.
  }
  merging = setTimeout(merge, checkpointMs)
}

const oneRow = (row: Record<string, unknown>): Rows => ({ rows: [row], changes: 0 })

function open(question: Question & { kind: 'open' }): undefined {
  const { file } = question
  if (question.role === 'reader') {
    db = connect(file)
    db.run('PRAGMA query_only = ON')
    db.run(`PRAGMA cache_size = -${readerCacheKb}`)
    return
  }
  const { lockFile, mark: place } = question
  about(lockFile, () => {
    const locked = lockDirectory(dirname(lockFile), lockTimeoutMs)
    if (locked === 'busy') throw Object.assign(new Error('locked'), { code: 'SQLITE_BUSY' })
    directoryLock = locked
    lock = new Database(lockFile, { create: true, readwrite: true })
    lock.run(`PRAGMA busy_timeout = ${lockTimeoutMs}`)
    // The kernel releases this lock with the process, however the process ends.
    lock.run('BEGIN EXCLUSIVE')
  })
  about(file, () => {
    if (place !== undefined && !existsSync(file)) checkMark(place, undefined)
    db = connect(file)
    db.run('PRAGMA journal_mode = WAL')
    db.run('PRAGMA synchronous = FULL')
    // A page that changes in every batch is then copied back occasionally, not every time.
    db.run(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
    db.run(`PRAGMA journal_size_limit = ${walBytesKept}`)
    // Without it INSERT OR REPLACE would bypass the triggers that keep the ledger append-only.
    db.run('PRAGMA recursive_triggers = ON')
    // No file is opened after the start: there may be no descriptor left for it.
    db.run('PRAGMA temp_store = MEMORY')
    db.prepare('SELECT count(*) FROM sqlite_master').get()
    if (place !== undefined) checkMark(place, db)
    if (statSync(file).size <= checkedAtOpenBytes) checkPages(db)
  })
}

/** Values that a column does not allow are left to the audit: the pages are intact then. */
const aboutValues = / value in |constraint failed in /

function checkPages(db: Database): void {
  const found = db.query('PRAGMA quick_check').values() as [string][]
  const damage = found
    .map(([text]) => text)
    .find((text) => text !== 'ok' && !aboutValues.test(text))
  if (damage !== undefined) throw Object.assign(new Error(damage), { code: 'SQLITE_CORRUPT' })
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

/** All of it, whatever fails: what stays open would keep the next gateway out. */
function close(): undefined {
  clearTimeout(merging)
  const steps = [
    () => writer?.close(),
    ...[...statements.values()].map((statement) => () => statement.finalize()),
    () => mark?.close(),
    // Closing alone leaves the checkpoint to garbage collection, which may never run.
    () => lock !== undefined && db?.run('PRAGMA wal_checkpoint(TRUNCATE)'),
    () => db?.close(),
    () => lock?.close(),
    () => directoryLock?.release(),
  ]
  for (const step of steps) {
    try {
      step()
    } catch {
      // A full or failing disk: the WAL has what the database file has not, and the next start reads it.
    }
  }
}

function describe(error: unknown): Failure {
  const { code, message, file } = error as { code?: string; message?: string; file?: string }
  const failure = { code: code ?? 'SQLITE_ERROR', message: message ?? String(error) }
  return file === undefined ? failure : { ...failure, file }
}
