// What an upstream adapter offers. A capability is a property that is there. A provider knows no
// caller, no store and no money: it turns a plain request into an upstream call and the reply into
// a plain result plus usage.
import type { Protocol, Timeouts } from './catalog.ts'
import type { RefusalCode } from './errors.ts'
import type { TextCall } from './requests.ts'
import type { TokenUsage } from './usage.ts'

/** Where and as whom to ask. The address comes from configuration only, never from a request. */
export interface Upstream {
  baseUrl: string
  key: string
  model: string
  timeouts: Timeouts
  fetch: typeof fetch
  /** To be called whenever something of the answer arrives. */
  progress: () => void
}

/** A failure in the words of the error table; `message` is the upstream's own, not yet cleaned. */
export interface UpstreamError {
  code: RefusalCode
  message: string
  upstreamRequestId?: string
  httpStatus?: number
  retryAfterSeconds?: number
  /** For our own log. */
  cause?: unknown
}

export interface Reported {
  /** Undefined when the upstream gave no usable usage; the engine then counts. */
  usage: TokenUsage | undefined
  /** As it stood on the wire, for the log. */
  raw: unknown
}

export interface ByteReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

/** Watches the bytes of a stream on their way to the caller. */
export interface StreamWatcher {
  /** Bytes that may go to the caller now; the final event is kept back in `ending`. */
  take(chunk: Uint8Array): Uint8Array | undefined
  /** Called when the upstream closed the connection. */
  close(): void
  /** Undefined while open. */
  readonly outcome: 'finished' | UpstreamError | undefined
  /** The final event, to be sent once the charge is durable. */
  readonly ending: Uint8Array | undefined
  readonly reported: Reported
  /** Output tokens counted from the text seen so far. */
  countOutputTokens(): number
}

export type TextReply =
  | {
      kind: 'json'
      body: string
      reported: Reported
      /** Output tokens counted from the text, for when usage is missing. */
      countOutputTokens: () => number
      upstreamRequestId: string | undefined
    }
  | {
      kind: 'stream'
      reader: ByteReader
      watcher: StreamWatcher
      upstreamRequestId: string | undefined
    }
  | { kind: 'failed'; error: UpstreamError }

export interface TextProvider {
  send(call: TextCall, upstream: Upstream, signal: AbortSignal): Promise<TextReply>
  /** How an error looks inside a stream that has already begun. */
  errorEvent(errorBody: string): Uint8Array
}

export interface Provider {
  protocol: Protocol
  text?: TextProvider
}
