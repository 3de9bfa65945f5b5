// What the main thread and a database thread say to each other.
import type { MarkPlace } from './high-water-mark.ts'

export type Question =
  | { kind: 'open'; role: 'reader'; file: string }
  | { kind: 'open'; role: 'writer'; file: string; lockFile: string; mark: MarkPlace | undefined }
  /** The master key is the right one: from here on commits are counted. */
  | { kind: 'mark'; mark: MarkPlace }
  | { kind: 'query'; sql: string; parameters: readonly unknown[] }
  | { kind: 'rollback' }
  | { kind: 'batch'; requests: string; entries: string; losses: string }
  | { kind: 'book'; limit: number }
  | { kind: 'index'; settledSeq: number }
  | { kind: 'close' }

/** Flat: what is nested goes from thread to thread by a slower way. */
export type Asked = Question & { id: number }

export interface Rows {
  rows: Record<string, unknown>[]
  changes: number
}

export interface Failure {
  code: string
  message: string
  /** Set while opening: which of the two files it is about. */
  file?: string
}

/** A number alone is the id of a question that was done and has nothing to show. */
export type Answer = number | { id: number; rows?: Rows; failure?: Failure }
