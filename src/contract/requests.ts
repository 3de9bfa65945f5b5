// Plain requests, and the log row every call leaves behind.
import type { Interface } from './catalog.ts'
import type { Loss } from './ledger.ts'
import type { TokenUsage } from './usage.ts'

/** What bounds the tokens that an upstream can count in the input. */
export interface InputBound {
  /** Of everything that is text, and of what upstreams wrap it in. */
  maxTextTokens: number
  images: number
  /** Something in it has a size that only the upstream knows. */
  isOpen: boolean
  /** Inputs that have the model's context window each to themselves. */
  inputs: number
}

/** An id in a request that may stand for an object in the operator's upstream account. */
export interface Reference {
  /** The field's name, as a refusal tells it. */
  param: string
  id: string
  /** Its place in `input`, where the item itself is given and the id can be left out. */
  item?: number
}

/** A text call whose body goes upstream nearly as it came: only the model name changes. */
export interface TextCall {
  interface: Interface
  model: string
  stream: boolean
  /** The caller asked for a usage event at the end of its stream. */
  wantsUsage: boolean
  /** The caller's JSON, as sent. */
  body: string
  /** The same, parsed. Read only. */
  fields: Readonly<Record<string, unknown>>
  /** Rough size of the input in tokens, used for rate limits and when usage is missing. */
  inputTokens: number
  inputBound: InputBound
  /** The caller's own bound of the output, all choices together. */
  maxOutputTokens?: number
  /** Answers asked for at once (`n`). */
  choices: number
  /** Left out when there are none. */
  references?: readonly Reference[]
  /** Which version of its style the caller speaks, where the style has versions. */
  dialect?: { version?: string; beta?: string }
}

/** One try at one upstream, as the request log shows it. */
export interface Attempt {
  channel: string
  /** Which of several keys, counted from 1. */
  key?: number
  /** Since the request came. */
  afterMs: number
  ms: number
  status?: number
  error?: string
}

/** The trace a request belongs to, and its place there. */
export interface CallTrace {
  readonly traceId: string
  /** Of the request itself. */
  readonly spanId: string
  /** Of whoever called. */
  readonly parentId?: string
  /** Whether spans of it are wanted. */
  readonly sampled: boolean
  /** What came along for other tracers, handed on as it was. */
  readonly state?: string
  /** Span ids of the tries, in their order. */
  readonly tries: string[]
}

export type CallEnding =
  | 'complete' // the upstream's answer was complete
  | 'refused' // the gateway said no before asking an upstream
  | 'failed' // the upstream failed, stalled, was cut off or made no sense
  | 'caller_left' // hang-up; charged only by what had been produced
  | 'cut_short' // the gateway ended the stream itself; charged by what had been delivered

/** Work of one upstream that the caller did not pay for. */
export interface CallLoss extends Pick<Loss, 'reason' | 'channel' | 'unit' | 'quantity'> {
  nanos: string
  /** The upstream's name for it. */
  upstreamId?: string
  estimated?: boolean
}

/** What is shown but never searched or added up. */
export interface RequestDetail {
  stream: boolean
  ending: CallEnding
  upstreamModel?: string
  /** As the upstream reported it. */
  reported?: unknown
  estimated?: boolean
  /** What upstreams did for it that nobody pays for; carried by the operator. */
  loss?: CallLoss[]
  error?: string
  /** What was asked for, when it was not an answer. */
  operation?: 'count_tokens'
  /** The request whose answer was given once more. */
  replayOf?: string
  /** The task it made, whose entries are its own. */
  taskId?: string
  traceId?: string
  attempts: Attempt[]
}

export interface RequestRecord {
  requestId: string
  atMs: number
  accountId: string
  tokenId: string
  interface: Interface
  model: string
  channel?: string
  upstreamRequestId?: string
  status: number
  errorCode?: string
  chargeNanos: bigint
  /** The price version it was admitted at. */
  priceId?: string
  /** As billed. */
  usage?: TokenUsage
  firstByteMs?: number
  totalMs: number
  detail: RequestDetail
  /** Not written down but for its id. */
  trace?: CallTrace
}
