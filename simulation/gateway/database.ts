// The database of a world: the real tables in SQLite in memory, and two small tables in which triggers record
// what a commit touched. A transaction runs from begin to end in one event of the world, so commits are atomic
// in time.
import { Database, type SQLQueryBindings, type Statement } from 'bun:sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { shapeIntegers } from '../../src/store/dialects/integers.ts'
import { migrate } from '../../src/store/migrations/index.ts'
import type { Schema } from '../../src/store/schema.ts'
import { watchTables } from './watch-tables.ts'

const maxStatements = 512
const maxTranslated = 4_096

/** A statement and its name in the trace; undefined for reads. */
interface Prepared {
  statement: Statement
  hasRows: boolean
  write: string | undefined
}

const triggers = `SELECT name FROM sqlite_master
  WHERE type = 'trigger' AND tbl_name IN ('entries', 'requests')`

/** Translates PostgreSQL syntax to SQLite; locks are not needed here. */
const translations: readonly (readonly [RegExp, string])[] = [
  [/\s+for (?:update|share)(?: of \w+)?(?: skip locked)?/gi, ''],
  [/json_array_elements\(CAST\(\? AS json\)\) AS each\(value\)/g, 'json_each(?)'],
  [/\bchr\(/g, 'char('],
  [/SELECT tgname AS name FROM pg_trigger[\s\S]*/g, triggers],
]

export class SimDatabase {
  readonly #db: Database
  readonly #statements = new Map<string, Prepared>()
  /** Writes since the last takeWrites. */
  #writes: string[] = []

  private constructor(db: Database) {
    this.#db = db
    db.run('PRAGMA recursive_triggers = ON')
  }

  /** A copy of the empty tables. */
  static fresh(template: Uint8Array): SimDatabase {
    const options = { safeIntegers: true }
    // The types describe an older signature.
    const db = Database.deserialize(template, options as unknown as boolean) as unknown as Database
    return new SimDatabase(db)
  }

  get raw(): Database {
    return this.#db
  }

  get inTransaction(): boolean {
    return this.#db.inTransaction
  }

  query<Row = Record<string, unknown>>(sql: string, parameters: readonly unknown[] = []) {
    const { statement, hasRows, write } = this.#prepare(sql)
    const bindings = parameters as SQLQueryBindings[]
    if (!hasRows) {
      const { changes } = statement.run(...bindings)
      if (changes > 0 && write !== undefined) this.#writes.push(write)
      return { rows: [] as Row[], changes }
    }
    const rows = statement.all(...bindings) as Record<string, unknown>[]
    if (rows.length > 0 && write !== undefined) this.#writes.push(write)
    shapeIntegers(rows)
    return { rows: rows as Row[], changes: rows.length }
  }

  run(sql: string): void {
    this.#prepare(sql).statement.run()
  }

  /** What the transaction has changed so far. */
  takeWrites(): readonly string[] {
    const writes = this.#writes
    this.#writes = []
    return writes
  }

  rollback(): void {
    if (this.#db.inTransaction) this.#db.run('ROLLBACK')
  }

  close(): void {
    for (const { statement } of this.#statements.values()) statement.finalize()
    this.#db.close()
  }

  #prepare(sql: string): Prepared {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    if (this.#statements.size >= maxStatements) {
      for (const { statement } of this.#statements.values()) statement.finalize()
      this.#statements.clear()
    }
    const statement = this.#db.prepare(sql)
    const [, verb, table] = /(insert into|update|delete from)\s+"?(\w+)/i.exec(sql) ?? []
    const write = verb && `${verb.split(' ')[0]!.toLowerCase()} ${table}`
    const prepared = { statement, hasRows: statement.columnNames.length > 0, write }
    this.#statements.set(sql, prepared)
    return prepared
  }
}

/** The tables as the real migrations make them. */
export async function makeTemplate(): Promise<Uint8Array> {
  const db = new Database(':memory:', { safeIntegers: true })
  const target = new Kysely<Schema>({ dialect: dialectOf(openExecutor(db)) })
  await migrate({
    dialect: 'sqlite',
    name: 'a simulation',
    tx: (work) => target.transaction().execute(work),
  })
  // As the first start of a gateway leaves it.
  db.run("INSERT INTO meta VALUES ('currency', 'CNY')")
  watchTables(db)
  return db.serialize()
}

/** Runs the statements and the two ends of a transaction. */
interface Executor {
  ask(sql: string, parameters: readonly unknown[]): Promise<{ rows: unknown[]; changes: number }>
  begin(): Promise<void>
  commit(): Promise<void>
  rollback(): Promise<void>
}

function openExecutor(db: Database): Executor {
  const run = (sql: string) => async () => void db.run(sql)
  return {
    async ask(sql, parameters) {
      const statement = db.prepare(sql)
      const bindings = parameters as SQLQueryBindings[]
      if (statement.columnNames.length > 0) {
        const rows = statement.all(...bindings) as Record<string, unknown>[]
        shapeIntegers(rows)
        return { rows, changes: rows.length }
      }
      return { rows: [], changes: statement.run(...bindings).changes }
    },
    begin: run('BEGIN'),
    commit: run('COMMIT'),
    rollback: run('ROLLBACK'),
  }
}

const translated = new Map<string, string>()

/** Each statement once: a world runs the same few hundred over and over. */
export function translate(sql: string): string {
  const known = translated.get(sql)
  if (known !== undefined) return known
  if (translated.size >= maxTranslated) translated.clear()
  const text = translations.reduce(
    (all, [pattern, instead]) => all.replaceAll(pattern, instead),
    sql,
  )
  translated.set(sql, text)
  return text
}

class ExecutorConnection implements DatabaseConnection {
  readonly #executor: Executor

  constructor(executor: Executor) {
    this.#executor = executor
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, changes } = await this.#executor.ask(sql, parameters)
    return { rows: rows as R[], numAffectedRows: BigInt(changes) }
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('this store does not stream rows; page through them')
  }
}

function driverOf(executor: Executor): Driver {
  const connection = new ExecutorConnection(executor)
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: () => executor.begin(),
    commitTransaction: () => executor.commit(),
    rollbackTransaction: () => executor.rollback(),
    releaseConnection: async () => {},
    destroy: async () => {},
  }
}

const dialectOf = (executor: Executor): Dialect => ({
  createAdapter: () => new SqliteAdapter(),
  createDriver: () => driverOf(executor),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
})

export const kyselyOver = (executor: Executor): Kysely<Schema> =>
  new Kysely<Schema>({ dialect: dialectOf(executor) })
