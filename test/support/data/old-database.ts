// Databases as older versions left them, loaded from test/fixtures, and every row of them as text, to
// be held against what an upgrade makes of it.
import { Database } from 'bun:sqlite'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Dialect } from '../../../src/store/schema.ts'
import { newPlace, type Place } from '../../../src/store/test-stores.ts'
import { root } from '../gateway.ts'

const fixtures = join(root, 'test/fixtures')

/** Each is named by the release, or by its schema where none was made with it. */
export const oldVersions: readonly string[] = readdirSync(fixtures).sort()

export type Row = Readonly<Record<string, string | null>>
export type Tables = ReadonlyMap<string, readonly Row[]>

export interface OldDatabase {
  place: Place
  ask(statement: string): Promise<Row[]>
  /** Every row of every table, of these columns where they are given. */
  tables(like?: Tables): Promise<Tables>
}

export async function loadOld(engine: Dialect, version: string): Promise<OldDatabase> {
  return load(engine, readFileSync(join(fixtures, version, `${engine}.sql`), 'utf8'))
}

/**
 * The same as if it had been made a moment ago: a task that is a day old would be given up. Its
 * receipts go, as they prove other times; they are made anew.
 */
export async function loadYoung(engine: Dialect, version: string): Promise<OldDatabase> {
  const text = readFileSync(join(fixtures, version, `${engine}.sql`), 'utf8')
  const times = text.match(someTime)!.map(Number)
  const shift = Date.now() - ageMs - Math.min(...times)
  const young = text
    .replace(someTime, (time) => String(Number(time) + shift))
    .split('\n')
    .filter((line) => !proofs.test(line))
  return load(engine, young.join('\n'))
}

const someTime = /\b179\d{10}\b/g
const ageMs = 1_800_000
const proofs =
  /^INSERT INTO (?:public\.|")(?:(?:receipts|seals|money_hours|closed_months)\b|meta"? VALUES \('receipts_floor)/

async function load(engine: Dialect, text: string): Promise<OldDatabase> {
  const place = await newPlace(engine, { empty: true })
  const ask = engine === 'sqlite' ? askSqlite(place) : askPostgres(place)
  await ask(text)
  return { place, ask, tables: (like?: Tables) => readTables(engine, ask, like) }
}

type Ask = OldDatabase['ask']

function askSqlite({ options }: Place): Ask {
  return async (statement) => {
    const db = new Database(join(options.dataDir, 'gateway.db'), { safeIntegers: true })
    try {
      if (!/^\s*SELECT\b/i.test(statement)) {
        db.run(statement)
        return []
      }
      return (db.query(statement).all() as Record<string, unknown>[]).map(asText)
    } finally {
      db.close()
    }
  }
}

function askPostgres({ options }: Place): Ask {
  return async (statement) => {
    const client = new pg.Client({ connectionString: options.databaseUrl })
    await client.connect()
    const result = await client.query(statement).finally(() => client.end())
    return ((result as { rows?: Record<string, unknown>[] }).rows ?? []).map(asText)
  }
}

const asText = (row: Record<string, unknown>): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]),
  )

/** What later schemas have renamed, so that rows can be compared under the names they had. */
const newTables: Readonly<Record<string, string>> = {
  purses: 'credit_leases',
  creates: 'idempotency_keys',
  money_hours: 'hourly_totals',
  late_looks: 'abandoned_checks',
}
/** Files that were kept for a day. */
const droppedTables: readonly string[] = ['exports', 'export_pieces']
const newColumns: Readonly<Record<string, string>> = {
  'accounts.drawn_nanos': 'leased_nanos',
  'accounts.stopped_since_ms': 'suspended_since_ms',
  'late_looks.looks': 'polls',
  'tasks.trail': 'timeline',
}

/** Stored words that later schemas have replaced: new -> old. */
const oldValues: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'callbacks.state': { exhausted: 'given_up' },
  'audit_log.action': { 'task.rerun': 'task.again' },
}

const asBefore = (table: string, row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      oldValues[`${table}.${column}`]?.[value ?? ''] ?? value,
    ]),
  )

/** `like`: the tables and columns to read, under the names they had before an upgrade. */
async function readTables(engine: Dialect, ask: Ask, like?: Tables): Promise<Tables> {
  const found = new Map<string, Row[]>()
  for (const name of like?.keys() ?? (await tableNames(engine, ask))) {
    const [first] = like?.get(name) ?? []
    const columnOf = (each: string) => `"${newColumns[`${name}.${each}`] ?? each}" AS "${each}"`
    const columns = first === undefined ? '*' : Object.keys(first).map(columnOf)
    const now = await ask(`SELECT ${columns} FROM ${(like && newTables[name]) ?? name}`)
    const rows = like === undefined ? now : now.map((row) => asBefore(name, row))
    found.set(
      name,
      rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    )
  }
  return found
}

async function tableNames(engine: Dialect, ask: Ask): Promise<string[]> {
  const rows = await ask(
    engine === 'sqlite'
      ? `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
      : `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace
           AND relkind IN ('r', 'p') AND NOT relispartition`,
  )
  return rows.map(({ name }) => name!).filter((name) => !droppedTables.includes(name))
}
