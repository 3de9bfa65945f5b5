// The store's interface, in a file of its own so that both dialects can implement it.
import type { Kysely } from 'kysely'
import type { RequestRecord } from '../contract/requests.ts'
import type { SteadyClock } from '../lib/clock.ts'
import type { Histogram } from '../lib/telemetry/metrics.ts'
import type { Dialect, Schema } from './schema.ts'

export type Log = (level: 'warn' | 'error' | 'info', msg: string) => void

/** First argument of table functions: a transaction, or the store's `read`. */
export type Tx = Kysely<Schema>

/** Thrown in a transaction to roll it back; its outcome is known. */
export class Rollback<Result> extends Error {
  readonly result: Result

  constructor(result: Result) {
    super('this transaction is rolled back')
    this.result = result
  }
}

/** Notices between gateways; `evicted` comes from the store itself. */
export type Notice =
  /** Catalog data changed: no tokens but these, where they are named. */
  | { kind: 'changed'; tokens?: readonly string[] }
  /** This gateway was away for too long: its leased credit has been returned. */
  | { kind: 'evicted' }
  /** An account received money: gateways that found it empty check again. */
  | { kind: 'funded'; accountId: string }
  | (Question & { nonce: string })
  | Answer

export type Question =
  /** A gateway lacks credit of an account that others lease: they return what they do not hold. */
  | { kind: 'wanted'; accountId: string }
  /** The others return what they have leased of budgets and do not hold; without an account, of all. */
  | { kind: 'budget_wanted'; accountId?: string }
  /** Asks for the call holds of the accounts between these ids, both included. */
  | { kind: 'holds_wanted'; firstId: string; lastId: string }

export type Reply =
  | { kind: 'returned'; nanos: string }
  /** As many holds as fit into a notice; more follow unless it is the last. */
  | {
      kind: 'holds'
      holds: readonly (readonly [accountId: string, nanos: string])[]
      isLast: boolean
    }

/** Reply to the question with the same nonce, by the named gateway. Amounts are in digits. */
export type Answer = Reply & { nonce: string; by: string }

/** What a gateway needs to share a database with others. */
export interface Cluster {
  readonly gatewayId: string
  /** Reaches every other live gateway promptly; never waits. */
  publish(notice: Notice): void
  subscribe(listener: (notice: Notice) => void): void
  /** Returns the leased credit of dead gateways now instead of at the next interval. */
  sweep(): Promise<void>
  /** Whether a gateway is alive, as far as the database can see. */
  lives(gatewayId: string): Promise<boolean>
  /** Runs the work while holding the cluster-wide lock. */
  withLock<T>(work: () => Promise<T>): Promise<T>
  /** Runs the work while no other gateway holds this lock; undefined, at once, if one does. */
  tryLock<T>(lock: number, work: () => Promise<T>): Promise<T | undefined>
}

/** Batches of the hot path, since the process started. */
export interface Commits {
  /** Time until each was durable or failed. */
  readonly seconds: Histogram
  /** Rows that were made durable. */
  records: number
  /** Batches that were not written. */
  failures: number
}

export interface Store {
  /** SQLite with a mark key: from here on, lost data is detected at the next start. */
  watchLoss?(): Promise<unknown>
  readonly dialect: Dialect
  /** Clock of all stored times: the database's own on PostgreSQL, so that gateways agree. */
  readonly clock: SteadyClock
  /** Absent when the database cannot be shared. */
  readonly cluster?: Cluster
  /** Reads outside a transaction. */
  readonly read: Kysely<Schema>
  /**
   * Atomic; on SQLite one at a time with the hot writer. Inside, await nothing but the transaction
   * itself: another tx or a record would wait for this one for ever. On PostgreSQL the work may run
   * again after a deadlock, so it must change nothing but rows. Work that locks the row of an
   * account names it: while that row is locked elsewhere, it blocks no other work.
   */
  tx<T>(work: (tx: Kysely<Schema>) => Promise<T>, accountId?: string): Promise<T>
  /**
   * Hot path: the row of a call, which is its log row and, if it has a charge, its ledger entry with
   * its receipt; durable when the promise resolves. Idempotent by request id. The promise is shared
   * with other records of the same batch.
   */
  record(call: RequestRecord): Promise<void>
  /** All its reads see the same moment; long reads block nothing. `end` releases it. */
  snapshot(): Promise<{ db: Kysely<Schema>; end(): Promise<void> }>
  /** Absent where commits are not counted. */
  readonly commits?: Commits
  /** False after a failed write until a write succeeds again; tried every second. */
  readonly healthy: boolean
  /**
   * Set while the store has not answered for longer than usual, which may be load or an outage: ends
   * after seconds with what it was. New work that could not be charged waits for it.
   */
  readonly doubt?: Promise<void> | undefined
  /** Accepts no more records and waits for pending ones. */
  close(): Promise<void>
}

/** The work runs at the first call; later calls wait for the same result. */
export function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    done ??= work()
    return done
  }
}
