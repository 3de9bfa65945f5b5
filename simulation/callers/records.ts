// What callers know: what they requested, which replies they got, and what those promise. The verification
// compares the database with it.
import type { Price } from '../../src/contract/price.ts'

export type InputKind =
  | 'video'
  | 'tokenVideo'
  | 'imageTask'
  | 'image'
  | 'text'
  | 'response'
  | 'ownResponse'

/** One input of a caller, however often it is sent. */
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
  /** The gateway to send it to, if that is ready. */
  readonly at?: number
  readonly answers: Answer[]
  /** Ids of all requests for it, answered or not. */
  readonly requestIds: string[]
}

export type Answer =
  | { kind: 'task'; requestId: string; taskId: string; replayed: boolean }
  | { kind: 'text'; requestId: string }
  | { kind: 'refused'; requestId: string; code: string }
  /** No reply, or only a part of one. */
  | { kind: 'lost'; requestId: string }

export interface CreditInput {
  ref: string
  accountId: string
  amountNanos: bigint
  /** The last reply; undefined without one. */
  answer: string | undefined
}

export interface RefundInput {
  ref: string
  /** The request or task. */
  of: string
  accountId: string
  /** Undefined: all that is left. */
  amountNanos: bigint | undefined
  /** Undefined without one: what was booked, or why nothing was. */
  answer: { amountNanos: bigint } | string | undefined
}

export interface BatchInput {
  number: number
  accountId: string
  key: string
  /** Prompts, by custom id. */
  lines: ReadonlyMap<string, string>
  /** Undefined before a gateway has replied. */
  fileId: string | undefined
  batchId: string | undefined
  /** Lines of its output and error files; undefined before they were read. */
  files: { output: string; errors: string } | undefined
}

interface Account {
  id: string
  openingNanos: bigint
}

export class CallerRecords {
  readonly inputs: Input[] = []
  readonly credits: CreditInput[] = []
  readonly refunds: RefundInput[] = []
  readonly batches: BatchInput[] = []
  readonly accounts: Account[] = []
  /** Accounts whose month was said to be closed. */
  readonly closed = new Set<string>()
  /** Every version that was ever stored, or may have been. */
  readonly prices = new Map<string, Price>()
  /** The same of costs. */
  readonly costs: Price[] = []
  /** Ends that callers have seen, by task. */
  readonly seenEnds = new Map<string, string>()
  /** How many images of a task could be fetched for a waiting caller. */
  readonly fetched = new Map<string, number[]>()
  /** Tasks whose caller got the reply that they are cancelled. */
  readonly cancelled = new Set<string>()
  /** Callers that still wait for something. */
  waiting = 0
}
