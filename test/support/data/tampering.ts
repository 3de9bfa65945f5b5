// Somebody with a key to the database but not to the gateway: changes rows behind its back, past the
// triggers that forbid it. Works on copies.
import { Database, type SQLQueryBindings } from 'bun:sqlite'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { newId } from '../../../src/lib/crypto/ids.ts'
import type { StoreOptions } from '../../../src/store/index.ts'
import { onServer } from '../../../src/store/test-stores.ts'
import { tempDir } from '../gateway.ts'

export type Row = Record<string, unknown>

export interface Tamperer {
  /** Where the copy is. */
  options: StoreOptions
  /** `$1`, `$2` … stand for the values. */
  ask(statement: string, ...values: unknown[]): Promise<Row[]>
  /** Puts the triggers to sleep, or wakes them. */
  guard(awake: boolean): Promise<void>
  end(): Promise<void>
}

/** A copy of a database that nobody has open. */
export async function copyOf(options: StoreOptions): Promise<Tamperer> {
  return options.databaseUrl === undefined
    ? copyOfFile(options.dataDir)
    : copyOfDatabase(options.databaseUrl)
}

/** Of ten milliseconds each. */
const maxTries = 1_000

async function copyOfFile(dataDir: string): Promise<Tamperer> {
  const copyDir = join(tempDir(), 'copy')
  mkdirSync(copyDir)
  copyFileSync(join(dataDir, 'gateway.db'), join(copyDir, 'gateway.db'))
  const db = new Database(join(copyDir, 'gateway.db'), { readwrite: true, safeIntegers: true })
  db.run('PRAGMA ignore_check_constraints = ON')
  const triggers = db
    .query<{ name: string; sql: string }, []>(
      `SELECT name, sql FROM sqlite_master WHERE type = 'trigger'`,
    )
    .all()
  return {
    options: { dataDir: copyDir },
    async ask(statement, ...values) {
      const query = db.query<Row, SQLQueryBindings[]>(statement.replaceAll('$', '?'))
      // Waited for here: a store whose transaction is under way needs this thread to end it.
      for (let tries = 0; ; tries++) {
        try {
          return query.all(...(values as SQLQueryBindings[]))
        } catch (error) {
          if ((error as { code?: string }).code !== 'SQLITE_BUSY' || tries === maxTries) throw error
          await Bun.sleep(10)
        }
      }
    },
    async guard(awake) {
      for (const { name, sql } of triggers) {
        db.run(`DROP TRIGGER IF EXISTS ${name}`)
        if (awake) db.run(sql)
      }
    },
    end: async () => db.close(),
  }
}

const int8 = 20

/** Whole numbers as on the other engine. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === int8 ? BigInt : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

async function copyOfDatabase(databaseUrl: string): Promise<Tamperer> {
  const name = newId('gateway_test')
  const url = new URL(databaseUrl)
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${url.pathname.slice(1)}`)
  url.pathname = `/${name}`
  const client = new pg.Client({ connectionString: url.href, types })
  await client.connect()
  // Nobody keeps a constraint who wants to do wrong.
  const { rows: constraints } = await client.query(
    `SELECT conrelid::regclass::text AS of, conname FROM pg_constraint 
     WHERE contype = 'c' AND conrelid <> 0 AND coninhcount = 0 AND connamespace = 'public'::regnamespace`,
  )
  for (const { of, conname } of constraints) {
    await client.query(`ALTER TABLE ${of} DROP CONSTRAINT ${conname}`)
  }
  return {
    options: { dataDir: tempDir(), databaseUrl: url.href },
    ask: async (statement, ...values) => (await client.query(statement, values)).rows as Row[],
    async guard(awake) {
      for (const table of ['entries', 'requests']) {
        await client.query(`ALTER TABLE ${table} ${awake ? 'ENABLE' : 'DISABLE'} TRIGGER USER`)
      }
    },
    async end() {
      await client.end()
      await onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    },
  }
}

type Random = () => number

/** The same with one bit of one byte turned over; undefined where there is nothing to turn. */
export function flipped(value: unknown, random: Random): unknown {
  if (typeof value === 'bigint') {
    const view = new DataView(new ArrayBuffer(8))
    view.setBigInt64(0, value)
    flipIn(new Uint8Array(view.buffer), random)
    return view.getBigInt64(0)
  }
  if (typeof value === 'number') {
    const view = new DataView(new ArrayBuffer(8))
    view.setFloat64(0, value)
    flipIn(new Uint8Array(view.buffer), random)
    const turned = view.getFloat64(0)
    return Number.isFinite(turned) ? turned : undefined
  }
  if (typeof value !== 'string' || value === '') return undefined
  const bytes = new TextEncoder().encode(value)
  // A text stays one: no NUL, and nothing that is no text.
  const at = Math.floor(random() * bytes.length)
  const turned = bytes[at]! ^ (1 << Math.floor(random() * 7))
  if (turned === 0 || bytes[at]! > 127) return undefined
  bytes[at] = turned
  return new TextDecoder().decode(bytes)
}

function flipIn(bytes: Uint8Array, random: Random): void {
  const at = Math.floor(random() * bytes.length)
  bytes[at] = bytes[at]! ^ (1 << Math.floor(random() * 8))
}
