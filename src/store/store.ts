// The shape of the store's door, apart from it so that both engines can promise it.
import type { Kysely } from 'kysely'
import type { Entry } from '../contract/ledger.ts'
import type { RequestRecord } from '../contract/requests.ts'
import type { SteadyClock } from '../lib/clock.ts'
import type { Histogram } from '../lib/telemetry/metrics.ts'
import type { Booked } from './proof/receipts.ts'
import type { Dialect, Schema } from './schema.ts'

export type Log = (level: 'warn' | 'error' | 'info', msg: string) => void

/** What the actions of a table take first: a transaction, or the store's `read`. */
export type Tx = Kysely<Schema>

/** What gateways tell each other; `buried` comes from the store itself. */
export type Notice =
  /** Something the catalog is made of. */
  | { kind: 'changed' }
  /** This gateway was away for too long: what it had drawn has been given back. */
  | { kind: 'buried' }
  /** An account has got money: whoever found it empty looks again. */
  | { kind: 'funded'; accountId: string }
  | (Question & { nonce: string })
  | Answer

export type Question =
  /** A gateway lacks what others have leased of an account: they return what they do not hold. */
  | { kind: 'wanted'; accountId: string }
  /** What calls hold of the accounts between these ids, both included. */
  | { kind: 'holds_wanted'; firstId: string; lastId: string }

export type Reply =
  | { kind: 'returned'; nanos: string }
  /** As many of them as fit into a notice; others follow unless it is the last. */
  | {
      kind: 'holds'
      holds: readonly (readonly [accountId: string, nanos: string])[]
      isLast: boolean
    }

/** To the question with the same nonce, by the gateway that is named. Amounts are in digits. */
export type Answer = Reply & { nonce: string; by: string }

/** What it takes to be one of several gateways on one database. */
export interface Cluster {
  readonly gatewayId: string
  /** Reaches every other gateway that is there, in a moment; never waits. */
  tell(notice: Notice): void
  hear(listener: (notice: Notice) => void): void
  /** Gives back what dead gateways had drawn, now instead of in a while. */
  sweep(): Promise<void>
  /** Whether a gateway is there, as far as the database can see. */
  lives(gatewayId: string): Promise<boolean>
  /** While no other gateway does anything alone. */
  alone<T>(work: () => Promise<T>): Promise<T>
}

/** Batches of the hot path, since the process started. */
export interface Commits {
  /** How long each took to be durable, or to fail. */
  readonly seconds: Histogram
  /** Rows that were made durable. */
  records: number
  /** Batches that were not written. */
  failures: number
}

export interface Store {
  /** SQLite with a mark key: from here on, what is lost from its files is noticed at the next start. */
  watchLoss?(): Promise<unknown>
  readonly dialect: Dialect
  /** What all durable times go by: the database's own on PostgreSQL, so that gateways agree. */
  readonly clock: SteadyClock
  /** Absent when this is the only gateway there can be. */
  readonly cluster?: Cluster
  /** Reads outside a transaction. */
  readonly read: Kysely<Schema>
  /**
   * All or nothing, one at a time with the hot writer on SQLite. Inside, await nothing but the
   * transaction itself: another tx or a record would wait for this one for ever. On PostgreSQL the
   * work may run again after a deadlock, so it must change nothing but rows. Work that locks the row
   * of an account names it: while that is locked elsewhere, it keeps nobody else from the store.
   */
  tx<T>(work: (tx: Kysely<Schema>) => Promise<T>, accountId?: string): Promise<T>
  /**
   * Hot path: one request log row and, maybe, its ledger entry; durable when the promise resolves.
   * Idempotent by request id and by the entry's ref and kind. The promise is shared with other
   * records of the same batch.
   */
  record(request: RequestRecord, entry?: Entry): Promise<void>
  /** All its reads see the same moment; for long ones, beside everything else. `end` lets it go. */
  snapshot(): Promise<{ db: Kysely<Schema>; end(): Promise<void> }>
  /**
   * The next entries that have no receipt, at most that many; see receipts.ts. Absent where it is
   * no cheaper than a transaction.
   */
  book?(limit: number): Promise<Booked>
  /** Absent where nobody counts them. */
  readonly commits?: Commits
  /** False after a failed write until a write succeeds again; tried every second. */
  readonly healthy: boolean
  /** Waits for the records it has; takes no more. */
  close(): Promise<void>
}

/** The work is done at the first call; later calls wait for the same end. */
export function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    done ??= work()
    return done
  }
}
