// The door of the store: the only place with SQL. Opens SQLite in the data directory, or the
// PostgreSQL database it is given. Rows are read and changed through one file per table.
import { type LateIndexLimits, lateIndexLimits } from './late-index.ts'
import { openSqlite } from './sqlite/open.ts'
import type { Log, Store } from './store.ts'

export { BadCursor, type Page, type PageQuery } from './cursor.ts'
export { isUniqueConflict, StoreRefused } from './refused.ts'
export type { Schema } from './schema.ts'
export type { Log, Store, Tx } from './store.ts'

export interface StoreOptions {
  dataDir: string
  databaseUrl?: string
  log?: Log
  /** Other limits for the background index of upstream ids. */
  lateIndex?: Partial<LateIndexLimits>
}

export async function openStore({
  dataDir,
  databaseUrl,
  log = () => {},
  lateIndex,
}: StoreOptions): Promise<Store> {
  if (databaseUrl === undefined) {
    return openSqlite({ dataDir, log, lateIndex: { ...lateIndexLimits.sqlite, ...lateIndex } })
  }
  const limits = { ...lateIndexLimits.postgres, ...lateIndex }
  // Its driver is loaded only where it is used.
  const { openPostgres } = await import('./postgres/open.ts')
  return openPostgres({ databaseUrl, log, lateIndex: limits })
}
