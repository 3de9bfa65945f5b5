// What an upstream adapter offers; a capability is a property that is present. A provider knows no
// caller, no store and no money: it turns a plain request into an upstream call and the reply into
// a plain result plus usage.
import type { BatchResult, BatchSource } from './batches/upstream.ts'
import type { MessagesSettings, Protocol, Timeouts, TranslationSettings } from './catalog.ts'
import type { FailureReason, Refusal, RefusalCode } from './errors.ts'
import type { HttpAnswer, HttpPort } from './http.ts'
import type { TextCall } from './requests.ts'
import type { ImageRequest, OutputMedia, TaskUsage, VideoBound, VideoRequest } from './task.ts'
import type { ReportedUsage, ServedAs, TokenUsage } from './usage.ts'

/** How a provider learns that its work is no longer wanted. */
export interface Stop {
  replyBy(other: { cancel(): void }): void
}

/** Base URL and credentials. The URL comes from configuration only, never from a request. */
export interface Upstream {
  baseUrl: string
  key: string
  model: string
  timeouts: Timeouts
  messages: MessagesSettings
  http: HttpPort
  /** Fields of the body that its channel sets, as JSON, or leaves out (an empty text); applied last. */
  bodyEdits?: Readonly<Record<string, string>> | undefined
  /** Calls are in Vertex form, and name these in their path. */
  vertex?: { project: string; location: string } | undefined
  /** Large work for calls with one key is done in turn with that for others. */
  queueKey?: string
  /** Touched whenever part of the answer arrives. */
  progress: { touch(): void }
  /** Mark the prompt for its cache where the caller marks nothing. */
  autoCache?: boolean | undefined
  /** Whether it reads such marks; absent: as usual for its style. */
  cacheControl?: boolean | undefined
  /** False where it takes no `stream_options` (chat) and reports usage in streams unasked. */
  streamOptions?: boolean | undefined
  /** It gets no sealed reasoning: it has refused a seal, or the call comes from another maker. */
  withoutSeals?: boolean
  /** Every change of a request is a refusal. */
  strict?: boolean
  /** Set where the caller's style is not the provider's. */
  translating?: Translating | undefined
  /** The suffix for ids that go to callers; set where the provider `handsOutIds`. */
  markFor?: ((id: string) => string) | undefined
}

/** How a call is translated for one upstream, and its answer for the caller. */
export interface Translating {
  /** The part of the answer's id behind the prefix of the caller's style. */
  answerId: string
  createdMs: number
  /** The output limit that the hold is for. */
  maxOutputTokens: number
  /** The largest request that may be sent. */
  maxRequestBytes: number
  /** Asked before a request is sent that is larger than the caller's. A refusal: it may not be. */
  approve(grownBytes: number): undefined | Refusal | Promise<undefined | Refusal>
  /** What a finished answer is charged for; its caller is shown the same. */
  chargedUsage(reported: ReportedUsage | undefined, countOutputTokens: () => number): TokenUsage
  /** Binds seals of reasoning to this gateway. */
  envelopeKey: Uint8Array
  /** Upstreams that accept each other's seals. */
  realm: string
  /** What the channel says of its upstream; the rest is as usual for its style. */
  settings: Partial<TranslationSettings>
  /** Another protocol of the channel may carry what this one would change: then it is not sent. */
  whole?: true
}

/** The same for tasks: the plain model name selects how media are sent. */
export interface TaskUpstream extends Upstream {
  plainModel: string
  /** At most 64 plain characters, sent in a field that the upstream reports back. */
  marker: string
  /** Fetches media that a caller gave by URL, for upstreams that take bytes only. */
  fetchMedia(url: string): Promise<FetchedMedia | { problem: string }>
}

export interface FetchedMedia {
  bytes: Uint8Array
  mimeType: string
}

/** A failure in terms of the error table; `message` is the upstream's own, not yet cleaned. */
export interface UpstreamError {
  code: RefusalCode
  message: string
  upstreamRequestId?: string
  httpStatus?: number
  retryAfterSeconds?: number
  /**
   * What was refused, if not the request, nor all of the upstream. `translation`: it was not sent.
   * `answer`: an answer that this gateway cannot use; the upstream did what it was asked to.
   */
  about?: 'key' | 'model' | 'path' | 'translation' | 'answer'
  /** The field of the request that it names. */
  param?: string
  /** What tools of callers act on. */
  reason?: FailureReason
  /** It had accepted the request and may have worked on it: not a refusal. */
  begun?: true
  /** Output tokens before the failure, where the provider saw any. */
  outputTokens?: number
  /** What the upstream reported with the failure. */
  usage?: ReportedUsage
  /** For our own log. */
  cause?: unknown
}

export interface Reported {
  /** Undefined when the upstream gave no usable usage; the engine then counts. */
  usage: ReportedUsage | undefined
  /** As received, for the log. */
  raw: unknown
  /** What it says of how it was served; absent: nothing. */
  served?: ServedAs
}

/** Watches the bytes of a stream on their way to the caller. */
export interface StreamWatcher {
  /**
   * Bytes that may go to the caller now; the final event is kept back in `ending`. The chunk is the
   * watcher's from here on, which may change it.
   */
  take(chunk: Uint8Array): Uint8Array | undefined
  /** Called at the regular end of the upstream's answer. */
  close(): void
  /** Called when it broke off. */
  break(): void
  /** Undefined while open. */
  readonly outcome: 'finished' | UpstreamError | undefined
  /** The final event, to be sent once the charge is durable. */
  readonly ending: Uint8Array | undefined
  readonly reported: Reported
  /** What of the answer was changed or left out for the caller. */
  readonly losses?: readonly string[] | undefined
  /** Events with data sent to the caller; comments do not count. */
  readonly events: number
  /** Output tokens counted from the text seen so far. */
  countOutputTokens(): number
  /** Whether there was output since this was last asked: comments and pings are none. */
  hasGoneOn(): boolean
  /** Why a finished answer ended; undefined where the upstream did not say so in its last events. */
  finishReason(): string | undefined
  /** It has bytes of a file: nothing can be said in between, and an error cuts it off. */
  readonly isRaw?: true
  /** Shows the caller that the stream is alive; absent: a comment. Only after the first event. */
  keepAlive?(): Uint8Array
}

/** How its request differed from the caller's. */
interface SentWith {
  /** Fields that were changed or left out; undefined when nothing was translated. */
  losses?: readonly string[]
  /** Marks for the upstream's prompt cache that were added. */
  cacheMarks?: number
}

export type TextReply =
  | (SentWith & {
      kind: 'json'
      /** A large one may be encoded. */
      body: string | Uint8Array<ArrayBuffer>
      /** Where it is not JSON. */
      contentType?: string
      /** The body, where it is as the upstream sent it. */
      parsed?: Readonly<Record<string, unknown>> | undefined
      /** The outline of a body that is too deep to be read. */
      outline?: Readonly<Record<string, unknown>> | undefined
      reported: Reported
      /** Output tokens counted from the text, for when usage is missing. */
      countOutputTokens: () => number
      /** Why the answer ended; absent: the upstream did not say. */
      finishReason?: string | undefined
      upstreamRequestId: string | undefined
    })
  | (SentWith & {
      kind: 'stream'
      /** Where it is no stream of events. */
      contentType?: string
      answer: HttpAnswer
      watcher: StreamWatcher
      upstreamRequestId: string | undefined
      /** It is a large answer, made into a stream. */
      whole?: WholeStream
    })
  | { kind: 'failed'; error: UpstreamError }

interface WholeStream {
  events: Uint8Array<ArrayBuffer>
  reported: Reported
  outputTokens: number
}

export type CountReply =
  | (SentWith & { kind: 'counted'; inputTokens: number; upstreamRequestId: string | undefined })
  | { kind: 'failed'; error: UpstreamError }

export interface TextProvider {
  /** Its answers hold ids of objects that are stored upstream and can be used in later calls. */
  handsOutIds?: true
  send(call: TextCall, upstream: Upstream, stop: Stop): Promise<TextReply>
  /** The input size of such a call, without making it. */
  countTokens?(call: TextCall, upstream: Upstream, stop: Stop): Promise<CountReply>
}

/** The maximum of a request, and how the upstream will read it. */
export interface VideoOutlook {
  bound: VideoBound
  /** The most probable reading, where the caller's own fields say so. */
  expected: Pick<VideoRequest, 'seconds' | 'resolution' | 'ratio'>
}

/** The outcome of a create. `unknown`: it was sent, and may or may not have arrived. */
export type Started =
  | {
      kind: 'started'
      upstreamId: string
      upstreamRequestId: string | undefined
      /** The model name that was requested, where that is not the route's. */
      upstreamModel?: string
      /** Further tasks that the upstream made for the same create. */
      otherIds?: readonly string[]
    }
  /** Already over: the upstream answered with the result. */
  | {
      kind: 'finished'
      report: Extract<TaskReport, { state: 'succeeded' | 'failed' }>
      upstreamRequestId: string | undefined
    }
  | { kind: 'refused'; error: UpstreamError }
  | { kind: 'unknown'; error: UpstreamError }

/** An upstream's report on a task. An unknown status word counts as running. */
export type TaskReport =
  | {
      state: 'queued' | 'running'
      progress?: number
      /** The upstream's status word, if unknown. */
      unknownStatus?: string
    }
  | {
      state: 'succeeded'
      media: readonly OutputMedia[]
      usage: TaskUsage
      raw: unknown
      /** The result of a response. */
      answer?: MadeAnswer
    }
  | { state: 'failed'; error: UpstreamError; raw: unknown }
  | { state: 'cancelled'; usage?: ReportedUsage }
  /** The upstream does not know the task. */
  | { state: 'missing' }

/** A text answer that is the result of a task. */
export interface MadeAnswer {
  /** For the caller, as JSON. */
  body: string | Uint8Array<ArrayBuffer>
  reported: Reported
  /** Output tokens counted from the text, for when usage is missing. */
  outputTokens: number
}

export type Checked =
  | { kind: 'report'; report: TaskReport; upstreamRequestId: string | undefined }
  /** The request failed; the task is unchanged. */
  | { kind: 'failed'; error: UpstreamError }

/** A create with an unknown outcome. */
export interface LostCreate<Request> {
  request: Request
  /** The time range in which the upstream may have made it. */
  fromMs: number
  untilMs: number
  /** Those of these ids that no task of ours has. */
  unclaimed(upstreamIds: readonly string[]): Promise<readonly string[]>
}

export type Found =
  | {
      kind: 'found'
      /** Certain matches, oldest first; empty when there is none yet. */
      upstreamIds: readonly string[]
      /** Matched by the task's marker, or because the task equals the request. */
      by: 'marker' | 'likeness'
      upstreamModel?: string
    }
  /** The request failed; nothing is known. */
  | { kind: 'failed'; error: UpstreamError }

/** Creates tasks of one kind and polls them. */
export interface TaskProvider<Request> {
  /** Exactly one create; never repeated. */
  start(request: Request, upstream: TaskUpstream, stop: Stop): Promise<Started>
  /** The maximum of the request as this upstream will read it. Pure. */
  outlook?(request: Request, plainModel: string): VideoOutlook
  check(upstreamId: string, upstream: TaskUpstream, stop: Stop): Promise<Checked>
  /** Headers for downloading its files. Sent to the channel's own origin only. */
  fileHeaders?(upstream: TaskUpstream): Readonly<Record<string, string>>
  /** Searches for a create that was cut off. Absent where the upstream has no list. */
  find?(lost: LostCreate<Request>, upstream: TaskUpstream, stop: Stop): Promise<Found>
  /** Absent where the upstream cannot cancel. `refused`: too late, or not allowed. */
  cancel?(
    upstreamId: string,
    upstream: TaskUpstream,
    stop: Stop,
  ): Promise<
    | { kind: 'cancelled'; usage?: ReportedUsage }
    | { kind: 'refused' | 'failed'; error: UpstreamError }
  >
}

export type VideoProvider = TaskProvider<VideoRequest>
export type ImageProvider = TaskProvider<ImageRequest>
/** Makes responses in the background, for upstreams that can. */
export type ResponseProvider = TaskProvider<TextCall>

/** What an upstream says of its batch. `failed`: it has run none of its lines. */
export interface BatchReport {
  state: 'running' | 'ended' | 'failed'
  /** Where its results are. */
  results: readonly string[]
  /** Why lines without a result have none; absent: it does not say. */
  unrun?: 'expired' | 'cancelled'
  error?: UpstreamError
}

type OrFailed<Result> = Promise<Result | { kind: 'failed'; error: UpstreamError }>

/** Lines of batches, for upstreams that run many calls in their own time. */
export interface BatchProvider {
  /** What a line is told by in the results. */
  idOf(line: { customId: string; number: number }, marker: string): string
  /** Without a line end. */
  line(id: string, body: string): string
  /** Absent: the lines are sent with the create. */
  upload?(
    source: BatchSource,
    upstream: Upstream,
    stop: Stop,
  ): OrFailed<{ kind: 'uploaded'; fileId: string }>
  /** `unknown`: it was sent, and may or may not have arrived. */
  create(
    source: BatchSource,
    upstream: Upstream,
    stop: Stop,
  ): Promise<
    { kind: 'created'; upstreamId: string } | { kind: 'refused' | 'unknown'; error: UpstreamError }
  >
  /** A batch that was made from this source; one that cannot be told yet is none. */
  find(
    source: Omit<BatchSource, 'lines'> & { fromMs: number },
    upstream: Upstream,
    stop: Stop,
  ): OrFailed<{ kind: 'found'; upstreamId?: string }>
  check(
    upstreamId: string,
    upstream: Upstream,
    stop: Stop,
  ): OrFailed<{ kind: 'report'; report: BatchReport }>
  /** Its lines under way may still end. */
  cancel(upstreamId: string, upstream: Upstream, stop: Stop): Promise<void>
  /** In any order; fails when they cannot all be read. */
  results(report: BatchReport, upstream: Upstream, stop: Stop): AsyncIterable<BatchResult>
  /** Removes what was uploaded or made, as far as possible. */
  remove?(files: readonly string[], upstream: Upstream, stop: Stop): Promise<void>
}

/** The model names that an upstream lists. */
export type ModelsReply =
  | { kind: 'listed'; names: readonly string[] }
  | { kind: 'failed'; error: UpstreamError }

/** Where to ask for a list: no model yet. */
export type ListUpstream = Omit<Upstream, 'model'>

export interface Provider {
  protocol: Protocol
  /** The path after a channel's base URL, for display. */
  path: string
  /** Absent where such upstreams have no list. The same for all protocols that share one. */
  listModels?: (upstream: ListUpstream, stop: Stop) => Promise<ModelsReply>
  /** Where its upstreams speak several text styles: that of a model, by the upstream's name of it. */
  styleOf?: (upstreamModel: string) => Protocol
  /** The smallest request in a style that no caller speaks, to test a channel with. */
  question?: object
  text?: TextProvider
  video?: VideoProvider
  image?: ImageProvider
  response?: ResponseProvider
  batches?: BatchProvider
}
