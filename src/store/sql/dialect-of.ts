// Which dialect a query builder speaks, where a statement differs by it.
import { type Kysely, SqliteAdapter } from 'kysely'
import type { Dialect, Schema } from '../schema.ts'

export const dialectOf = (db: Kysely<Schema>): Dialect =>
  db.getExecutor().adapter instanceof SqliteAdapter ? 'sqlite' : 'postgres'
