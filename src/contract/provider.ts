// What an upstream adapter offers. A capability is a property that is there. A provider knows no
// caller, no store and no money: it turns a plain request into an upstream call and the reply into
// a plain result plus usage.
import type { MessagesSettings, Protocol, Timeouts } from './catalog.ts'
import type { RefusalCode } from './errors.ts'
import type { TextCall } from './requests.ts'
import type { ImageRequest, OutputMedia, TaskUsage, VideoBound, VideoRequest } from './task.ts'
import type { ReportedUsage } from './usage.ts'

/** An answer that has begun. */
export interface HttpAnswer {
  readonly status: number
  header(name: string): string | undefined
  /** Undefined when larger than the limit; rejects when it breaks off. */
  text(maxBytes: number, progress?: { touch(): void }): Promise<string | undefined>
  /** The next bytes; undefined at the proper end; rejects when it breaks off. */
  read(): Promise<Uint8Array | undefined>
  cancel(): void
  /** All that matters has come; the connection may be used again. */
  release(): void
  /** The body comes bit by bit and may be read slowly. */
  expectTrickle(): void
}

/** The way out: no redirects, no compression, nothing sent twice. */
export interface HttpPort {
  post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string | Uint8Array,
    limits: { connectMs: number },
  ): { readonly answer: Promise<HttpAnswer>; cancel(): void }
  get(
    url: string,
    headers: Readonly<Record<string, string>>,
    limits: { connectMs: number },
  ): { readonly answer: Promise<HttpAnswer>; cancel(): void }
  delete(
    url: string,
    headers: Readonly<Record<string, string>>,
    limits: { connectMs: number },
  ): { readonly answer: Promise<HttpAnswer>; cancel(): void }
}

/** How a provider learns that its work is no longer wanted. */
export interface Stop {
  replyBy(other: { cancel(): void }): void
}

/** Where and as whom to ask. The address comes from configuration only, never from a request. */
export interface Upstream {
  baseUrl: string
  key: string
  model: string
  timeouts: Timeouts
  messages: MessagesSettings
  http: HttpPort
  /** To be touched whenever something of the answer arrives. */
  progress: { touch(): void }
  /** What to put behind an id that is handed out; there where the provider `handsOutIds`. */
  markFor?: (id: string) => string
}

/** The same for tasks: the plain model name chooses how media are handed over. */
export interface TaskUpstream extends Upstream {
  plainModel: string
  /** The task's own, at most 64 plain characters: to be planted where the upstream tells it back. */
  marker: string
  /** What a caller gave by address, for upstreams that take bytes only. */
  fetchMedia(url: string): Promise<FetchedMedia | { problem: string }>
}

export interface FetchedMedia {
  bytes: Uint8Array
  mimeType: string
}

/** A failure in the words of the error table; `message` is the upstream's own, not yet cleaned. */
export interface UpstreamError {
  code: RefusalCode
  message: string
  upstreamRequestId?: string
  httpStatus?: number
  retryAfterSeconds?: number
  /** What was refused, when it is neither the request nor the upstream as a whole. */
  about?: 'key' | 'model'
  /** It had taken the request and may have worked on it: it did not refuse it. */
  begun?: true
  /** Output that came before it failed, in tokens, where the provider saw any. */
  outputTokens?: number
  /** For our own log. */
  cause?: unknown
}

export interface Reported {
  /** Undefined when the upstream gave no usable usage; the engine then counts. */
  usage: ReportedUsage | undefined
  /** As it stood on the wire, for the log. */
  raw: unknown
}

/** Watches the bytes of a stream on their way to the caller. */
export interface StreamWatcher {
  /** Bytes that may go to the caller now; the final event is kept back in `ending`. */
  take(chunk: Uint8Array): Uint8Array | undefined
  /** Called when the upstream's answer came to its end. */
  close(): void
  /** Called when it broke off. */
  break(): void
  /** Undefined while open. */
  readonly outcome: 'finished' | UpstreamError | undefined
  /** The final event, to be sent once the charge is durable. */
  readonly ending: Uint8Array | undefined
  readonly reported: Reported
  /** Events with data that have gone to the caller; comments do not count. */
  readonly events: number
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
      answer: HttpAnswer
      watcher: StreamWatcher
      upstreamRequestId: string | undefined
    }
  | { kind: 'failed'; error: UpstreamError }

export type CountReply =
  | { kind: 'counted'; inputTokens: number; upstreamRequestId: string | undefined }
  | { kind: 'failed'; error: UpstreamError }

export interface TextProvider {
  /** Its answers hold ids of objects that are kept upstream and can be named in later calls. */
  handsOutIds?: true
  send(call: TextCall, upstream: Upstream, stop: Stop): Promise<TextReply>
  /** How large the input of such a call would be, without making it. */
  countTokens?(call: TextCall, upstream: Upstream, stop: Stop): Promise<CountReply>
}

/** What a request can come to, and how the upstream will read it. */
export interface VideoOutlook {
  bound: VideoBound
  /** What it most probably is, where its caller's own words say so. */
  expected: Pick<VideoRequest, 'seconds' | 'resolution' | 'ratio'>
}

/** What became of a create. `unknown`: it was sent, and nobody knows whether it arrived. */
export type Started =
  | {
      kind: 'started'
      upstreamId: string
      upstreamRequestId: string | undefined
      /** The name it was asked for by, where that is not the route's. */
      upstreamModel?: string
      /** Tasks that the upstream made besides, for the same create. */
      otherIds?: readonly string[]
    }
  /** It is over already: the upstream answered with what it made. */
  | {
      kind: 'finished'
      report: Extract<TaskReport, { state: 'succeeded' | 'failed' }>
      upstreamRequestId: string | undefined
    }
  | { kind: 'refused'; error: UpstreamError }
  | { kind: 'unknown'; error: UpstreamError }

/** What an upstream says of a task. Words it never used before mean that it is still running. */
export type TaskReport =
  | {
      state: 'queued' | 'running'
      progress?: number
      /** The upstream's word, where it is none of those that are known. */
      unknownStatus?: string
    }
  | { state: 'succeeded'; media: readonly OutputMedia[]; usage: TaskUsage; raw: unknown }
  | { state: 'failed'; error: UpstreamError; raw: unknown }
  | { state: 'cancelled' }
  /** The upstream does not know the task. */
  | { state: 'missing' }

export type Checked =
  | { kind: 'report'; report: TaskReport; upstreamRequestId: string | undefined }
  /** The question failed; the task is as it was. */
  | { kind: 'failed'; error: UpstreamError }

/** A create of which nobody knows whether it arrived. */
export interface LostCreate<Request> {
  request: Request
  /** Between which moments an upstream may say that it was made. */
  fromMs: number
  untilMs: number
  /** Those of these ids that no task of ours goes by. */
  unclaimed(upstreamIds: readonly string[]): Promise<readonly string[]>
}

export type Found =
  | {
      kind: 'found'
      /** Those that must be it; the oldest first, none when there is none yet. */
      upstreamIds: readonly string[]
      /** By the task's marker, or because what was made is just what was asked for. */
      by: 'marker' | 'likeness'
      upstreamModel?: string
    }
  /** The question failed; nothing is known. */
  | { kind: 'failed'; error: UpstreamError }

/** Makes tasks of one kind and looks after them. */
export interface TaskProvider<Request> {
  /** Exactly one create; never repeated. */
  start(request: Request, upstream: TaskUpstream, stop: Stop): Promise<Started>
  /** What the request can come to as this upstream will read it. Pure. */
  outlook?(request: Request, plainModel: string): VideoOutlook
  check(upstreamId: string, upstream: TaskUpstream, stop: Stop): Promise<Checked>
  /** What its files want besides their address. Sent to the channel's own origin, nowhere else. */
  fileHeaders?(upstream: TaskUpstream): Readonly<Record<string, string>>
  /** Looks for a create that was cut off. Left out where the upstream lists nothing. */
  find?(lost: LostCreate<Request>, upstream: TaskUpstream, stop: Stop): Promise<Found>
  /** Left out where the upstream cannot. `refused`: too late, or it will not. */
  cancel?(
    upstreamId: string,
    upstream: TaskUpstream,
    stop: Stop,
  ): Promise<{ kind: 'cancelled' } | { kind: 'refused' | 'failed'; error: UpstreamError }>
}

export type VideoProvider = TaskProvider<VideoRequest>
export type ImageProvider = TaskProvider<ImageRequest>

/** The names an upstream says it has, by its own account of them. */
export type ModelsReply =
  | { kind: 'listed'; names: readonly string[] }
  | { kind: 'failed'; error: UpstreamError }

/** Where to ask for a list: no model yet. */
export type ListUpstream = Omit<Upstream, 'model'>

export interface Provider {
  protocol: Protocol
  /** What is added to a channel's base address, for people to read. */
  path: string
  /** Absent where such upstreams have no list. The same for all protocols that share one. */
  listModels?: (upstream: ListUpstream, stop: Stop) => Promise<ModelsReply>
  text?: TextProvider
  video?: VideoProvider
  image?: ImageProvider
}
