// An answer in no style, as a sequence of events. Readers enforce the order, so that no writer has
// to: blocks are numbered 0, 1, 2 …, one block is open at a time, and nothing but `usage` follows
// `stop`.
//
//   begin (open (text | input | seal | cite)* close)* stop usage? | … fail
//
// An answer that its upstream finished ends with `stop`, whatever is wrong with its parts: the caller has
// had them and pays for them. What could not be carried is told by `lost`, anywhere. `fail` is for errors
// that the upstream reports itself, and for answers that have nothing at all.
import type { UpstreamError } from '../../contract/provider.ts'
import type { TokenParts } from '../../contract/usage.ts'
import type { Continued } from '../../lib/json/text-run.ts'
import type { Json } from './conversation.ts'
import type { Seal } from './envelope.ts'

/**
 * Why the model stopped. An answer that is complete says `calls` exactly when it has a tool call; one
 * that was cut or withheld says so, with or without calls.
 */
export type StopReason = 'end' | 'stop_sequence' | 'calls' | 'length' | 'filtered' | 'refusal'

/** A call that the end of the output cut cannot be run: styles that need its input whole leave it out. */
export const isCut = (stop: { reason: StopReason } | undefined): boolean =>
  stop?.reason === 'length' || stop?.reason === 'filtered' || stop?.reason === 'refusal'

/** The tool call that a block holds, with the caller's own names. */
export interface CallHead {
  id: string
  name: string
  namespace?: string
  freeForm: boolean
}

export type Block =
  | { kind: 'text' | 'refusal' }
  | { kind: 'reasoning'; redacted?: true }
  | { kind: 'call'; call: CallHead }

export interface Citation {
  url: string
  title?: string
  /** Offsets in the block's text, where the upstream gives them. */
  start?: number
  end?: number
  quote?: string
}

/** As shown to the caller, who is charged for the same: the provider's reading of the answer. */
export interface AnswerUsage {
  /** All input, cached and written included. */
  inputTokens: number
  /** All output, reasoning included. */
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
  /** Those of the counts that styles tell apart; absent: none. */
  parts?: TokenParts
  reasoningTokens: number
  /** The service tier that the answer names; absent: the plain one, or nothing. */
  servedTier?: string
}

/** Parts of an answer that may not come through as its upstream gave them. */
export type AnswerLoss = 'choices' | 'content' | 'finish_reason' | 'tool_arguments' | 'tool_name'

export type AnswerEvent =
  | { type: 'begin' }
  | { type: 'open'; index: number; block: Block }
  | { type: 'text'; index: number; text: string }
  /** A piece of the input of a tool call, as the upstream wrote it. */
  | { type: 'input'; index: number; text: string }
  | { type: 'seal'; index: number; seal: Seal }
  | { type: 'cite'; index: number; citation: Citation }
  | { type: 'close'; index: number }
  | { type: 'stop'; reason: StopReason; sequence?: string; explanation?: string }
  | { type: 'usage'; usage: AnswerUsage }
  /** The reader had to change or leave out something of the answer. Not for writers. */
  | { type: 'lost'; what: AnswerLoss }
  | { type: 'fail'; error: UpstreamError }

export type Emit = (event: AnswerEvent) => void

/** Reads one upstream's stream, event by event. */
export interface StreamReader {
  /** One event's data. `name`: the text after `event:`, if any. */
  read(data: Json, name: string | undefined, emit: Emit): void
  /** Where events may differ that only continue the text of the one before; see `more`. */
  readonly continued?: Continued
  /** The next piece of the text that the last event gave; nothing else of the event is new. */
  more?(text: string, emit: Emit): void
  /** The regular end. Emits `stop`, or `fail` when there is neither an answer nor a reason. */
  end(emit: Emit): void
}

/** Writes one caller's stream. */
export interface StreamWriter {
  /** Bytes for the caller as text; empty where an event has none in this style. */
  write(event: AnswerEvent): string
  /** Shows that the connection is alive; only after the first event. */
  keepAlive(): string
  /** The last events, once usage is known and charged. */
  end(): string
}
