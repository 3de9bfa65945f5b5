// Inspects a database from outside, beside a gateway that may be running on it: creates nothing,
// changes nothing, runs no migration.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { integerPlugin } from '../dialects/integers.ts'
import { kyselyOverThread } from '../dialects/sqlite/dialect.ts'
import { refusalFor } from '../dialects/sqlite/refusals.ts'
import { DatabaseThread } from '../dialects/sqlite/thread.ts'
import type { Dialect, Schema } from '../schema.ts'
import { getMeta } from '../sql/meta.ts'

export interface Inspection {
  dialect: Dialect
  /** Display name, without secrets. */
  name: string
  /** The version of the server or of the library. */
  version: string
  /** 0: no gateway has used it yet. */
  schema: number
  read: Kysely<Schema>
  server?: {
    nowMs: number
    maxConnections: number
    mayCreateTables: boolean
  }
  end(): Promise<void>
}

/** Undefined: there is none yet. Throws StoreRefused when it exists and cannot be read. */
export async function inspectStore(place: {
  dataDir: string
  databaseUrl?: string
}): Promise<Inspection | undefined> {
  return place.databaseUrl === undefined
    ? inspectSqlite(place.dataDir)
    : inspectPostgres(place.databaseUrl)
}

async function inspectSqlite(dataDir: string): Promise<Inspection | undefined> {
  const file = join(dataDir, 'gateway.db')
  if (!existsSync(file)) return undefined
  const thread = new DatabaseThread()
  const read = kyselyOverThread((question) => thread.ask(question))
  const end = () => thread.close()
  try {
    await thread.ask({ kind: 'open', role: 'reader', file })
    const { rows } = await sql<{ version: string; tables: number }>`
      SELECT sqlite_version() AS version,
        (SELECT count(*) FROM sqlite_master WHERE name = 'meta') AS tables`.execute(read)
    const { version, tables } = rows[0]!
    const schema = tables === 0 ? 0 : await schemaOf(read)
    return { dialect: 'sqlite', name: file, version: `SQLite ${version}`, schema, read, end }
  } catch (error) {
    await end().catch(() => {})
    throw refusalFor(error, dataDir, file)
  }
}

async function inspectPostgres(databaseUrl: string): Promise<Inspection> {
  const [{ default: pg }, { addressOf, clientConfig, refusalFor }] = await Promise.all([
    import('pg'),
    import('../dialects/postgres/connection.ts'),
  ])
  const address = addressOf(databaseUrl)
  const pool = new pg.Pool({ ...clientConfig(databaseUrl), max: 1 })
  pool.on('error', () => {})
  const read = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool }),
    plugins: [integerPlugin],
  })
  const end = () => read.destroy()
  try {
    const { rows } = await sql<{
      version: string
      now_ms: number
      max_connections: string
      may_create: boolean
      meta: string | null
    }>`SELECT current_setting('server_version') AS version,
         floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms,
         current_setting('max_connections') AS max_connections,
         coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create,
         to_regclass('meta')::text AS meta`.execute(read)
    const { version, now_ms, max_connections, may_create, meta } = rows[0]!
    return {
      dialect: 'postgres',
      name: address.name,
      version: `PostgreSQL ${version}`,
      schema: meta === null ? 0 : await schemaOf(read),
      read,
      server: {
        nowMs: now_ms,
        maxConnections: Number(max_connections),
        mayCreateTables: may_create,
      },
      end,
    }
  } catch (error) {
    await end().catch(() => {})
    throw refusalFor(error, address)
  }
}

const schemaOf = async (read: Kysely<Schema>): Promise<number> =>
  Number((await getMeta(read, 'schema_version')) ?? '0')
