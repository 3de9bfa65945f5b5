// Messages between the main thread and a database thread.
import type { MarkPlace } from './high-water-mark.ts'

export type Question =
  | { kind: 'open'; role: 'reader'; file: string }
  | { kind: 'open'; role: 'writer'; file: string; lockFile: string; mark: MarkPlace | undefined }
  /** The master key is correct: count commits from here on. */
  | { kind: 'mark'; mark: MarkPlace }
  | { kind: 'query'; sql: string; parameters: readonly unknown[] }
  | { kind: 'rollback' }
  /** Records in this stretch of the journal, whose last batch has that number. */
  | { kind: 'apply'; file: number; from: number; to: number; salt: bigint; number: number }
  /** The same at the start, from a journal that is no longer written. */
  | { kind: 'replay'; requests: string; losses: string; number: number }
  | { kind: 'index'; settledSeq: number }
  | { kind: 'close' }

/** Flat: nested values take a slower path between threads. */
export type Asked = Question & { id: number }

export interface Rows {
  rows: Record<string, unknown>[]
  changes: number
}

export interface Failure {
  code: string
  message: string
  /** Set while opening: which of the two files failed. */
  file?: string
}

/** A bare number is the id of a completed request without a result. */
export type Answer = number | { id: number; rows?: Rows; failure?: Failure }
