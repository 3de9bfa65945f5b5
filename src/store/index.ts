// Entry point of the store: the only place with SQL. Opens SQLite in the data directory, or the
// given PostgreSQL database. Rows are read and changed through one file per table.

import { openSqlite } from './dialects/sqlite/open.ts'
import { type LogIndexerLimits, logIndexerLimits } from './log/indexer.ts'
import type { Log, Store, Tx } from './store.ts'

export { isBusy, isUniqueConflict, StoreBusy, StoreRefused } from './dialects/errors.ts'
export { besideDatabase } from './dialects/sqlite/open.ts'
export type { Dialect, Schema } from './schema.ts'
export { BadCursor, type Page, type PageQuery } from './sql/cursor.ts'
export {
  type Answer,
  type Cluster,
  type Log,
  type Notice,
  type Question,
  type Reply,
  Rollback,
  type Store,
  type Tx,
} from './store.ts'

export interface StoreOptions {
  dataDir: string
  databaseUrl?: string
  /** Brings the database to this schema instead of the newest. */
  schema?: number
  /** Opens as a gateway: on PostgreSQL, one of several that may share the database. */
  join?: boolean
  log?: Log
  /** Other limits for the background index of upstream ids. */
  logIndexer?: Partial<LogIndexerLimits>
  /** Base64, derived from the master key: SQLite then detects data lost from its files. */
  markKey?: string
  /** SQLite: nothing can be written until the process starts again. */
  died?: (error: Error) => void
}

/** This gateway's name in task leases; a constant where the database is not shared. */
export const gatewayOf = ({ cluster }: Store): string => cluster?.gatewayId ?? 'this'

/** All reads of the work see the same moment. */
export async function inSnapshot<T>(
  store: Pick<Store, 'snapshot'>,
  work: (db: Tx) => Promise<T>,
): Promise<T> {
  const { db, end } = await store.snapshot()
  try {
    return await work(db)
  } finally {
    await end()
  }
}

/** Runs the work while holding the cluster-wide lock. */
export const withLock = <T>({ cluster }: Store, work: () => Promise<T>): Promise<T> =>
  cluster === undefined ? work() : cluster.withLock(work)

const held = new WeakMap<Store, Set<number>>()

/** Runs the work while no other call holds this lock, at any gateway; undefined, at once, if one does. */
export async function tryLock<T>(
  store: Store,
  lock: number,
  work: () => Promise<T>,
): Promise<T | undefined> {
  if (store.cluster !== undefined) return store.cluster.tryLock(lock, work)
  const locks = held.get(store) ?? new Set()
  if (locks.has(lock)) return undefined
  held.set(store, locks.add(lock))
  try {
    return await work()
  } finally {
    locks.delete(lock)
  }
}

export async function openStore({
  dataDir,
  databaseUrl,
  schema,
  join = false,
  log = () => {},
  logIndexer,
  markKey,
  died,
}: StoreOptions): Promise<Store> {
  if (databaseUrl === undefined) {
    return openSqlite({
      dataDir,
      schema,
      log,
      markKey,
      died,
      logIndexer: { ...logIndexerLimits.sqlite, ...logIndexer },
    })
  }
  const limits = { ...logIndexerLimits.postgres, ...logIndexer }
  // The driver is loaded only where it is used.
  const { openPostgres } = await import('./dialects/postgres/open.ts')
  return openPostgres({ databaseUrl, schema, join, log, logIndexer: limits })
}
