// Kysely over a database thread: every query is one message. Writers share the thread with the hot
// batches, so a write connection takes the same mutex; readers need none.
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Schema } from '../../schema.ts'
import type { Question, Rows } from './messages.ts'
import type { Turns } from './mutex.ts'

export type Ask = (question: Question) => Promise<Rows | undefined>

class ThreadConnection implements DatabaseConnection {
  readonly #ask: Ask

  constructor(ask: Ask) {
    this.#ask = ask
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const answer = await this.#ask({ kind: 'query', sql, parameters })
    return {
      rows: (answer?.rows ?? []) as R[],
      numAffectedRows: BigInt(answer?.changes ?? 0),
    }
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('this store does not stream rows; page through them')
  }

  async rollback(): Promise<void> {
    await this.#ask({ kind: 'rollback' })
  }
}

interface WriterHooks {
  mutex: Turns
  /** The transaction could not begin or commit. */
  failed(error: unknown): void
}

class ThreadDriver implements Driver {
  readonly #connection: ThreadConnection
  readonly #writer: WriterHooks | undefined

  constructor(ask: Ask, writer: WriterHooks | undefined) {
    this.#connection = new ThreadConnection(ask)
    this.#writer = writer
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#writer?.mutex.lock()
    return this.#connection
  }

  async beginTransaction(): Promise<void> {
    if (this.#writer === undefined) throw new Error('a read has no transaction; use tx')
    await this.#edge('BEGIN IMMEDIATE')
  }

  async commitTransaction(): Promise<void> {
    await this.#edge('COMMIT')
  }

  async rollbackTransaction(): Promise<void> {
    await this.#connection.rollback()
  }

  async releaseConnection(): Promise<void> {
    this.#writer?.mutex.unlock()
  }

  async destroy(): Promise<void> {}

  async #edge(statement: string): Promise<void> {
    try {
      await this.#connection.executeQuery(CompiledQuery.raw(statement))
    } catch (error) {
      this.#writer?.failed(error)
      throw error
    }
  }
}

export function kyselyOverThread(ask: Ask, writer?: WriterHooks): Kysely<Schema> {
  const dialect: Dialect = {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new ThreadDriver(ask, writer),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
  return new Kysely<Schema>({ dialect })
}
