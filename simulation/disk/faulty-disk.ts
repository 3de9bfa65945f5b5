// A disk on which one operation fails: every open, write, sync, rename and unlink of the file layer, and every
// begin, commit and checkpoint of SQLite, is counted over all threads, and the one with a chosen number fails.
import { Database, type Statement } from 'bun:sqlite'
import { appendFileSync, cpSync, existsSync, readlinkSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'
import { disk } from '../../src/lib/disk.ts'

/** How the chosen operation fails. */
export const ways = ['refused', 'half done', 'done, and reported as failed'] as const
export type Way = (typeof ways)[number]

const key = 'faulty disk'
const [counted, chosen, chosenWay, copying] = [0, 1, 2, 3]

interface Shared {
  state: Int32Array
  /** Where each operation is noted, in order. */
  trace: string
  /** Of this directory, a copy is made there before each operation on a file while copies are wanted. */
  dir: string
  copies: string
}

/** In the main thread, before any other thread starts. */
export function shareFaults(places: Omit<Shared, 'state'>): void {
  const state = new Int32Array(new SharedArrayBuffer(4 * Int32Array.BYTES_PER_ELEMENT))
  setEnvironmentData(key, { state, ...places } as never)
}

/** From here on, or no longer. */
export function wantCopies(wanted: boolean): void {
  Atomics.store(shared().state, copying, wanted ? 1 : 0)
}

const shared = (): Shared => getEnvironmentData(key) as unknown as Shared

/** Counts from here on; the operation with that number fails, 1 being the next. */
export function failAt(number: number, way: Way): void {
  const { state } = shared()
  Atomics.store(state, chosen, number)
  Atomics.store(state, chosenWay, ways.indexOf(way))
  Atomics.store(state, counted, 0)
}

/** Whether the chosen operation was reached. */
export const hasFailed = (): boolean => {
  const { state } = shared()
  const number = Atomics.load(state, chosen)
  return number > 0 && Atomics.load(state, counted) >= number
}

/** Undefined when this operation works. */
function nextWay(what: string): Way | undefined {
  const { state, trace, dir, copies } = shared()
  const number = Atomics.add(state, counted, 1) + 1
  const isCopied = Atomics.load(state, copying) === 1 && !what.startsWith('sql ')
  if (isCopied && existsSync(dir)) cpSync(dir, join(copies, String(number)), { recursive: true })
  appendFileSync(trace, `${number} ${what}\n`)
  if (number !== Atomics.load(state, chosen)) return undefined
  return ways[Atomics.load(state, chosenWay)]!
}

const failure = (code: string, what: string): Error =>
  Object.assign(new Error(`${code}: injected, ${what}`), { code })

const nameOf = (file: number): string => {
  try {
    return basename(readlinkSync(`/proc/self/fd/${file}`))
  } catch {
    return 'a file'
  }
}

/** In every thread, before its first operation. */
export function installFaults(): void {
  installFiles()
  installDatabase()
}

function installFiles(): void {
  const real = { ...disk }
  const around = (code: string, label: (...given: unknown[]) => string, work: unknown) =>
    function failing(...given: unknown[]): unknown {
      const what = label(...given)
      const way = nextWay(what)
      const go = () => Reflect.apply(work as () => unknown, undefined, given)
      if (way === undefined) return go()
      if (way !== 'refused') go()
      throw failure(code, what)
    }
  const path = (kind: string) => (name: unknown) => `${kind} ${basename(String(name))}`
  const to = (kind: string) => (from: unknown, name: unknown) =>
    `${kind} ${basename(String(name))} ${basename(String(from))}`
  const open = (kind: string) => (file: unknown) => `${kind} ${nameOf(file as number)}`
  Object.assign(disk, {
    open: around('EMFILE', path('open'), real.open),
    readAll: around('EIO', path('read'), real.readAll),
    read: around('EIO', open('read'), real.read),
    sync: around('EIO', open('sync'), real.sync),
    truncate: around('EIO', open('truncate'), real.truncate),
    link: around('ENOSPC', to('link'), real.link),
    rename: around('EIO', to('rename'), real.rename),
    unlink: around('EIO', path('unlink'), real.unlink),
    makeDirectories: around('ENOSPC', path('mkdir'), real.makeDirectories),
    write: (file: number, data: Uint8Array | string, ...place: number[]) => {
      const what = `write ${nameOf(file)}`
      const way = nextWay(what)
      const write = real.write as (file: number, data: unknown, ...place: number[]) => number
      if (way === undefined) return write(file, data, ...place)
      if (way === 'half done') return writeHalf(file, data, place)
      if (way !== 'refused') write(file, data, ...place)
      throw failure('ENOSPC', what)
    },
    writeLater: laterWith(real.writeLater as Later),
  })
}

/** A text is written at a position; bytes with their offset and length before it. */
function writeHalf(file: number, data: Uint8Array | string, place: number[]): number {
  const bytes = Buffer.from(data as string)
  const [offset = 0, length = bytes.length] = place.length > 1 ? place : []
  return writeSync(file, bytes, offset, length >> 1, place.at(-1) ?? 0)
}

type Written = (error: Error | null, written: number) => void
type Later = (
  file: number,
  bytes: Buffer,
  offset: number,
  length: number,
  position: number,
  done: Written,
) => void

const laterWith =
  (write: Later): Later =>
  (file, bytes, offset, length, position, done) => {
    const what = `append ${nameOf(file)}`
    const way = nextWay(what)
    if (way === undefined) return write(file, bytes, offset, length, position, done)
    if (way === 'half done') return write(file, bytes, offset, length >> 1, position, done)
    const fail = () => done(failure('ENOSPC', what), 0)
    if (way === 'refused') return void setImmediate(fail)
    write(file, bytes, offset, length, position, fail)
  }

const watched = /^(BEGIN|COMMIT|PRAGMA (wal_checkpoint|journal_mode|query_only))/

function installDatabase(): void {
  const { run, prepare } = Database.prototype
  const fails = (db: Database, sql: string, work: () => unknown): unknown => {
    const way = nextWay(`sql ${sql.slice(0, 32)}`)
    if (way === undefined) return work()
    // A begin that fails leaves no transaction. Under load, another operation than the chosen one has its number.
    const isDone = way === 'done, and reported as failed' && !sql.startsWith('BEGIN')
    if (isDone) work()
    // As SQLite does by itself when a disk fails in a transaction.
    else if (db.inTransaction) run.call(db, 'ROLLBACK')
    throw failure(/^PRAGMA [jq]/.test(sql) ? 'SQLITE_CANTOPEN' : 'SQLITE_FULL', sql)
  }
  Database.prototype.run = function (this: Database, sql: string, ...given: unknown[]) {
    const work = () => Reflect.apply(run, this, [sql, ...given])
    return watched.test(sql) ? fails(this, sql, work) : work()
  } as typeof run
  Database.prototype.prepare = function (this: Database, sql: string, ...given: unknown[]) {
    const statement = Reflect.apply(prepare, this, [sql, ...given]) as Statement
    if (!watched.test(sql)) return statement
    const own = statement.run.bind(statement)
    statement.run = ((...values: []) => fails(this, sql, () => own(...values))) as typeof own
    return statement
  } as typeof prepare
}
