// Plain requests, and the request log row of every call.
import type { Interface, ModelKind } from './catalog.ts'
import type { Refusal } from './errors.ts'
import type { ChargeTexts, Loss } from './ledger.ts'
import type { Applied } from './price.ts'
import type { OtherUsage, TokenParts, TokenUsage, ToolCalls } from './usage.ts'

/** Bounds for the input tokens that an upstream can count. */
export interface InputBound {
  /** Of all text, and of what upstreams add around it. */
  maxTextTokens: number
  images: number
  /** Part of it has a size that only the upstream knows. */
  isOpen: boolean
  /** Inputs that each have the model's whole context window. */
  inputs: number
}

/** An id in a request that may name an object in the operator's upstream account. */
export interface Reference {
  /** The field's name, for a refusal. */
  param: string
  id: string
  /** Its index in `input`, where the item itself is present and the id can be dropped. */
  item?: number
}

/** What the calls of one conversation have in common, and no other call of the same account has. */
export interface ConversationIdentity {
  /** Its name, or how it begins. */
  text: string
  /** The field or header with its name; absent: it has none. */
  by?: string
  /** It has no answer yet. */
  isNew: boolean
}

/** A text call with a body that goes upstream unchanged except for the model name. */
/** A tool that the upstream would run, at a price of its own for each call. */
export interface ServerTool {
  name: string
  /** At most so many calls; absent: the style or the caller sets no bound. */
  maxUses?: number
  /** For a model whose price has no such tool. */
  refusal: Refusal
}

/**
 * What a call asks for at another price: a service tier, any of them (`auto`), the place where it runs, or output
 * that has a rate of its own.
 */
export interface AskedTerm {
  kind: 'tier' | 'auto' | 'geo' | 'rate'
  name: string
  /** The field that asks for it. */
  param: string
  /** For a model whose price has no such term. */
  refusal?: Refusal
}

/** What a call is charged by where its price is not by tokens. */
export interface CallQuantity {
  /** Charged where the upstream reports nothing else. */
  counted: number
  /** Held for. */
  max: number
  /** No more is believed of an upstream's report. */
  plausible: number
  /** What was counted may differ from what the upstream would. */
  isEstimate: boolean
}

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
  /** Estimated input tokens, for rate limits and when usage is missing. */
  inputTokens: number
  inputBound: InputBound
  /** The caller's own output limit, for all choices together. */
  maxOutputTokens?: number
  /** Reasoning is asked for, which upstreams do not all count within that limit. */
  reasons?: true
  /** Parts of the input are to stay in the upstream's cache for an hour. */
  hourCache?: true
  /** The upstream may sum up the input in another pass over it. */
  compacts?: true
  /** Choices requested (`n`). */
  choices: number
  /** Absent when there are none. */
  serverTools?: readonly ServerTool[]
  /** Absent when there are none. */
  asks?: readonly AskedTerm[]
  /** Absent when there are none. */
  references?: readonly Reference[]
  /** Searches, characters or seconds; absent: the call has tokens only. */
  quantity?: CallQuantity
  /** The answer is sound, whose tokens may have a rate of their own. */
  speaks?: true
  /** The call's name, in styles that have several calls of one form. */
  method?: string
  /**
   * The body came in the shape of another style and was rewritten: both styles, and the fields that
   * were changed or left out.
   */
  rewritten?: { path: string; losses: readonly string[] }
  /** It is to be made in the background, and fetched later. */
  background?: true
  /** The kind of model that the call is for, where the interface serves several. */
  makes?: ModelKind
  /** The caller is a coding tool that takes an incomplete answer for a broken connection. */
  codingTool?: true
  /** The version of the style that the caller uses, where the style has versions. */
  dialect?: { version?: string; beta?: string }
  /** Read where the call can go to several channels or keys; absent: calls have nothing in common. */
  conversation?: () => ConversationIdentity
}

/**
 * Whether a call went where the prompt cache of its conversation is: the conversation is new, was kept
 * there, or had to move.
 */
export const affinities = ['new', 'kept', 'moved'] as const
export type Affinity = (typeof affinities)[number]

/** Why a conversation was moved away from a channel and key. */
export const moveReasons = [
  'failed', // an earlier attempt of the same call failed there
  'throttled', // the key was asked to pause
  'rejected', // the upstream refused the key
  'unhealthy', // the channel has failed lately
  'full', // the channel has no free slot for the account
  'gone', // the channel or key is disabled or no longer configured
  'priority', // a channel of higher priority or of the caller's own style can be used again
] as const
export type MoveReason = (typeof moveReasons)[number]

/** One try at one upstream, as the request log shows it. */
export interface Attempt {
  channel: string
  /** The member of a virtual model that it was for. */
  model?: string
  /** Which of several keys, 1-based. */
  key?: number
  /** Since the request arrived. */
  afterMs: number
  ms: number
  status?: number
  error?: string
  /** Nothing was sent: the call cannot be translated for the channel. */
  unsent?: true
  /** Absent: the call belongs to no conversation that is kept together, or there was no choice. */
  affinity?: Affinity
  /** Why it was moved. */
  moved?: MoveReason
}

/** Those that count against the limits of a call. */
export const sentAttempts = ({ attempts }: RequestDetail): readonly Attempt[] =>
  attempts.some(({ unsent }) => unsent) ? attempts.filter(({ unsent }) => !unsent) : attempts

/** The trace of a request, and its span in it. */
export interface CallTrace {
  readonly traceId: string
  /** Of the request itself. */
  readonly spanId: string
  /** Of the caller's span. */
  readonly parentId?: string
  /** Whether its spans are recorded. */
  readonly sampled: boolean
  /** The caller's tracestate, passed on unchanged. */
  readonly state?: string
  /** Span ids of the tries, in order. */
  readonly tries: string[]
}

export type CallEnding =
  | 'complete' // the upstream's answer was complete
  | 'refused' // the gateway refused it before calling an upstream
  | 'failed' // the upstream failed, stalled, was cut off or sent invalid data
  | 'caller_left' // hang-up; charged only for what had been produced
  | 'cut_short' // the gateway ended the stream itself; charged for what had been delivered

/** Work of one upstream that the caller did not pay for. */
export interface CallLoss extends Pick<Loss, 'reason' | 'channel' | 'unit' | 'quantity'> {
  nanos: string
  /** The upstream's name for it. */
  upstreamId?: string
  estimated?: boolean
  /** What the upstream takes for an attempt that failed; null: not known; absent: nothing was served. */
  costNanos?: string | null
  /** The name by which that attempt asked for the model. */
  upstreamModel?: string
}

/** Shown, but never searched or summed. */
export interface RequestDetail {
  stream: boolean
  ending: CallEnding
  /** Why the upstream's answer ended: `stop`, `length`, `tool_calls`, `content_filter`, or its own word. */
  finishReason?: string
  upstreamModel?: string
  /** The model that served it, if that is not the one that was called. */
  servedModel?: string
  /** As the upstream reported it. */
  reported?: unknown
  estimated?: boolean
  /** Charged calls of tools that the upstream ran. */
  toolCalls?: ToolCalls
  /** Parts of its usage that are charged by rates of their own, and by other models' prices. */
  parts?: TokenParts
  others?: readonly OtherUsage[]
  /** Terms of its price beside the rates that it is charged by. */
  applied?: Applied
  /** Upstream work at the operator's cost: not charged. */
  loss?: CallLoss[]
  /** Of the cost of the call: that of attempts that failed. */
  failedCostNanos?: string
  error?: string
  /** Refused requests that this row stands for, itself included. */
  omitted?: number
  /** What was requested, if not an answer. */
  operation?: 'count_tokens'
  /** The caller's style and the upstream's, where they differ: `messages>chat`. */
  translation?: string
  /** What of the request, or of its answer, was changed or left out. */
  translationLosses?: readonly string[]
  /** The field or header that named its conversation. */
  conversationBy?: string
  /** Marks for the upstream's prompt cache that the gateway added. */
  cacheMarks?: number
  /** The request that first got this answer. */
  replayOf?: string
  /** Which retry of its client's it is, as the client says; absent: none. */
  clientRetry?: number
  /** Tells a body from others: of retries, and of calls whose caller left. */
  bodyHash?: string
  /** The task it created, which has the ledger entries. */
  taskId?: string
  traceId?: string
  attempts: Attempt[]
}

/** How the charge of a call came about; its amount, model, price, token and tags are those of the call. */
export interface CallCharge extends ChargeTexts {
  unit?: string | undefined
  quantity?: number | undefined
  /** The rate of its price that was used, where the price has several. */
  tier?: string | undefined
  estimated?: boolean | undefined
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
  /** What upstreams take for its attempts; null: not known; absent: nothing. */
  costNanos?: bigint | null
  /** The call is charged, if only with 0. */
  charge?: CallCharge
  /** The price version it was admitted at. */
  priceId?: string
  /** As billed. */
  usage?: TokenUsage
  firstByteMs?: number
  totalMs: number
  /** Its tags and its end user: see tags.ts. */
  tags?: string
  detail: RequestDetail
  /** Not stored except for its id. */
  trace?: CallTrace
}

/**
 * No real request reaches this: images of the maximum body size, 10,000 messages, 300,000 numbers or the
 * schemas of hundreds of tools stay far below it.
 */
export const textWork = { total: 40e6, structure: 30e6 }
