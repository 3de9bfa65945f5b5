// Tables of another product's database, read whole and at one moment: PostgreSQL, a file of SQLite, or a
// dump of MySQL. Writes nothing there.
import { closeSync, openSync, readSync } from 'node:fs'
import { SQL } from 'bun'
import { misuse, Stop } from '../terminal/stop.ts'
import { readMysqlDump } from './mysql-dump.ts'
import type { Row, Tables } from './rows.ts'

export async function readTables(place: string, names: readonly string[]): Promise<Tables> {
  try {
    if (/^postgres(ql)?:\/\//.test(place)) return await readPostgres(place, names)
    if (/^mysql:\/\//.test(place)) {
      throw misuse('of MySQL a dump is read: mysqldump DATABASE > FILE, then --database FILE')
    }
    const path = place.replace(/^(sqlite|file):(\/\/)?/, '')
    if (/^\w+:\/\//.test(path)) throw misuse('--database takes postgres://… or a file')
    return isSqlite(path) ? await readSqlite(path, names) : await readMysqlDump(path, names)
  } catch (error) {
    if (error instanceof Stop) throw error
    // An address may hold a password.
    const { code, message } = error as { code?: string; message?: string }
    throw misuse(`cannot read the database: ${code ?? ''} ${withoutSecrets(message ?? '')}`.trim())
  }
}

const withoutSecrets = (text: string): string => text.replaceAll(/\/\/[^@\s]*@/g, '//')

async function readPostgres(url: string, names: readonly string[]): Promise<Tables> {
  // What other clients take as parameters is none of this one's.
  const address = new URL(url)
  const schema = address.searchParams.get('schema')
  const tls = address.searchParams.get('sslmode')
  address.search = tls === null ? '' : `?sslmode=${encodeURIComponent(tls)}`
  const sql = new SQL(address.href, { max: 1 })
  try {
    return await sql.begin('isolation level repeatable read read only', async (tx) => {
      if (schema !== null) await tx`SELECT set_config('search_path', ${schema}, true)`
      const tables = new Map<string, Row[]>()
      for (const name of names) {
        const [found] = await tx`SELECT to_regclass(${`"${name}"`}) IS NOT NULL AS there`
        if (found.there !== true) continue
        // As JSON, arrays, times and numbers come in one form from every server.
        const rows = await tx`SELECT row_to_json(t)::text AS row FROM ${tx(name)} t`
        tables.set(
          name,
          rows.map((each: { row: string }) => JSON.parse(each.row) as Row),
        )
      }
      return tables
    })
  } finally {
    await sql.close()
  }
}

function isSqlite(path: string): boolean {
  const head = Buffer.alloc(16)
  const file = openSync(path, 'r')
  readSync(file, head, 0, 16, 0)
  closeSync(file)
  return head.toString('latin1') === 'SQLite format 3\0'
}

async function readSqlite(path: string, names: readonly string[]): Promise<Tables> {
  const sql = new SQL({ adapter: 'sqlite', filename: path, readonly: true })
  try {
    return await sql.begin(async (tx) => {
      const tables = new Map<string, Row[]>()
      for (const name of names) {
        const found = await tx`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ${name}`
        if (found.length === 0) continue
        const rows: Row[] = await tx`SELECT * FROM ${tx(name)}`
        tables.set(name, rows.map(inText))
      }
      return tables
    })
  } finally {
    await sql.close()
  }
}

/** What a program has given as bytes, SQLite keeps as bytes, in a column of any type. */
const inText = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? Buffer.from(value).toString() : value,
    ]),
  )
