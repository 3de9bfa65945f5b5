// What the main thread and a database thread say to each other.
import type { Cell } from '../schema.ts'

export type Question =
  | { kind: 'open'; role: 'writer' | 'reader'; file: string; lockFile: string }
  | { kind: 'query'; sql: string; parameters: readonly unknown[] }
  | { kind: 'rollback' }
  | { kind: 'batch'; requests: Cell[]; entries: Cell[] }
  | { kind: 'close' }

export interface Asked {
  id: number
  question: Question
}

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

export type Answer = { id: number; rows?: Rows; failure?: Failure }
