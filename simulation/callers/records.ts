// What callers know: what they asked for, what they were answered, and what that promises. The oracle
// holds the database against it.
import type { Price } from '../../src/contract/price.ts'

export type InputKind = 'film' | 'tokenFilm' | 'drawing' | 'picture' | 'text'

/** One thing that a caller wants, however often it has to ask. */
export interface Input {
  readonly number: number
  readonly kind: InputKind
  readonly accountId: string
  readonly prompt: string
  /** Its Idempotency-Key. */
  readonly key: string | undefined
  readonly callbackUrl: string | undefined
  readonly seconds: number
  readonly resolution: '720p' | '1080p'
  readonly count: number
  readonly wantsBytes: boolean
  readonly stream: boolean
  /** The gateway it is asked of, if that takes callers. */
  readonly at?: number
  readonly answers: Answer[]
  /** Requests that were made for it, answered or not. */
  readonly requestIds: string[]
}

export type Answer =
  | { kind: 'task'; requestId: string; taskId: string; replayed: boolean }
  | { kind: 'text'; requestId: string }
  | { kind: 'refused'; requestId: string; code: string }
  /** Nothing came, or too little. */
  | { kind: 'lost'; requestId: string }

export interface CreditInput {
  ref: string
  accountId: string
  amountNanos: bigint
  /** As it was last answered; undefined while nothing came. */
  answer: string | undefined
}

export interface Account {
  id: string
  openingNanos: bigint
}

export class CallersBooks {
  readonly inputs: Input[] = []
  readonly credits: CreditInput[] = []
  readonly accounts: Account[] = []
  /** Every version that was ever stored, or may have been. */
  readonly prices = new Map<string, Price>()
  /** Ends that callers have seen, by task. */
  readonly seenEnds = new Map<string, string>()
  /** How many pictures of a task could be fetched for whoever waited. */
  readonly fetched = new Map<string, number[]>()
  /** Tasks whose caller was told that they are cancelled. */
  readonly cancelled = new Set<string>()
  /** Callers that still wait for something. */
  waiting = 0
}
