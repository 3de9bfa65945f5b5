// Facts about the database of a store: version, size, and file path if there is one.
import { sql } from 'kysely'
import type { Store } from '../store.ts'

export interface DatabaseFacts {
  version: string
  bytes: number
  /** SQLite only. */
  file?: string
}

export async function databaseFacts({
  dialect,
  read,
}: Pick<Store, 'dialect' | 'read'>): Promise<DatabaseFacts> {
  if (dialect === 'postgres') {
    const { rows } = await sql<{ version: string; bytes: number }>`
      SELECT current_setting('server_version') AS version,
        pg_database_size(current_database()) AS bytes`.execute(read)
    return { version: rows[0]!.version, bytes: Number(rows[0]!.bytes) }
  }
  const { rows } = await sql<{ version: string; bytes: number; file: string }>`
    SELECT sqlite_version() AS version,
      (SELECT page_count FROM pragma_page_count()) *
      (SELECT page_size FROM pragma_page_size()) AS bytes,
      (SELECT file FROM pragma_database_list() WHERE name = 'main') AS file`.execute(read)
  const { version, bytes, file } = rows[0]!
  return { version, bytes: Number(bytes), ...(file !== '' && { file }) }
}
