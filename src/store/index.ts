// The door of the store: the only place with SQL. Opens SQLite in the data directory, or the
// PostgreSQL database it is given. Rows are read and changed through one file per table.

import { openSqlite } from './dialects/sqlite/open.ts'
import { type LogIndexerLimits, logIndexerLimits } from './log/indexer.ts'
import type { Log, Store } from './store.ts'

export { isBusy, isUniqueConflict, StoreRefused } from './dialects/errors.ts'
export { markFile } from './dialects/sqlite/open.ts'
export type { Schema } from './schema.ts'
export { BadCursor, type Page, type PageQuery } from './sql/cursor.ts'
export type { Answer, Cluster, Log, Notice, Question, Reply, Store, Tx } from './store.ts'

export interface StoreOptions {
  dataDir: string
  databaseUrl?: string
  /** Brings the database to this schema instead of the newest. */
  schema?: number
  /** This is a gateway: on PostgreSQL, one of several that may share the database. */
  join?: boolean
  log?: Log
  /** Other limits for the background index of upstream ids. */
  logIndexer?: Partial<LogIndexerLimits>
  /** Base64, made from the master key: SQLite then notices what is lost from its files. */
  markKey?: string
}

/** This gateway's name where tasks say who has them; there is but one where nobody shares. */
export const gatewayOf = ({ cluster }: Store): string => cluster?.gatewayId ?? 'this'

/** While no other gateway on the same database does anything alone. */
export const alone = <T>({ cluster }: Store, work: () => Promise<T>): Promise<T> =>
  cluster === undefined ? work() : cluster.alone(work)

export async function openStore({
  dataDir,
  databaseUrl,
  schema,
  join = false,
  log = () => {},
  logIndexer,
  markKey,
}: StoreOptions): Promise<Store> {
  if (databaseUrl === undefined) {
    return openSqlite({
      dataDir,
      schema,
      log,
      markKey,
      logIndexer: { ...logIndexerLimits.sqlite, ...logIndexer },
    })
  }
  const limits = { ...logIndexerLimits.postgres, ...logIndexer }
  // Its driver is loaded only where it is used.
  const { openPostgres } = await import('./dialects/postgres/open.ts')
  return openPostgres({ databaseUrl, schema, join, log, logIndexer: limits })
}
