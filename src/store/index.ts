// The door of the store: the only place with SQL. Opens SQLite in the data directory, or the
// PostgreSQL database it is given. Rows are read and changed through one file per table.

import { openSqlite } from './dialects/sqlite/open.ts'
import { type LateIndexLimits, lateIndexLimits } from './log/indexer.ts'
import type { Log, Store } from './store.ts'

export { isBusy, isUniqueConflict, StoreRefused } from './dialects/errors.ts'
export { markFile } from './dialects/sqlite/open.ts'
export type { Schema } from './schema.ts'
export { BadCursor, type Page, type PageQuery } from './sql/cursor.ts'
export type { Answer, Log, Notice, Question, Reply, Sharing, Store, Tx } from './store.ts'

export interface StoreOptions {
  dataDir: string
  databaseUrl?: string
  /** Brings the database to this schema instead of the newest. */
  schema?: number
  /** This is a gateway: on PostgreSQL, one of several that may share the database. */
  join?: boolean
  log?: Log
  /** Other limits for the background index of upstream ids. */
  lateIndex?: Partial<LateIndexLimits>
  /** Base64, made from the master key: SQLite then notices what is lost from its files. */
  markKey?: string
}

/** This gateway's name where tasks say who has them; there is but one where nobody shares. */
export const gatewayOf = ({ sharing }: Store): string => sharing?.gatewayId ?? 'this'

/** While no other gateway on the same database does anything alone. */
export const alone = <T>({ sharing }: Store, work: () => Promise<T>): Promise<T> =>
  sharing === undefined ? work() : sharing.alone(work)

export async function openStore({
  dataDir,
  databaseUrl,
  schema,
  join = false,
  log = () => {},
  lateIndex,
  markKey,
}: StoreOptions): Promise<Store> {
  if (databaseUrl === undefined) {
    return openSqlite({
      dataDir,
      schema,
      log,
      markKey,
      lateIndex: { ...lateIndexLimits.sqlite, ...lateIndex },
    })
  }
  const limits = { ...lateIndexLimits.postgres, ...lateIndex }
  // Its driver is loaded only where it is used.
  const { openPostgres } = await import('./dialects/postgres/open.ts')
  return openPostgres({ databaseUrl, schema, join, log, lateIndex: limits })
}
