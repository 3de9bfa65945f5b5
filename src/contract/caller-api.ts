// What a surface may ask of the engine on behalf of a caller: permission, calls, tasks, files,
// usage. A surface passes on the request; the engine decides what is held, charged and recorded.
import type { BatchApi } from './batches/index.ts'
import type { Channel, Interface, InterfaceRow, Model, Protocol, Token } from './catalog.ts'
import type { Refusal } from './errors.ts'
import type { MadeAnswer } from './provider.ts'
import type { RateView } from './rate.ts'
import type { CallTrace, RequestRecord, TextCall } from './requests.ts'
import type { TagKey } from './tags/index.ts'
import type {
  ImageRequest,
  ImageTask,
  OutputMedia,
  ResponseRequest,
  ResponseTask,
  Task,
  TaskKind,
  TaskState,
  VideoRequest,
  VideoTask,
} from './task.ts'

/** A request before authentication. */
export interface CallerRequest {
  readonly requestId: string
  readonly atMs: number
  readonly path: string
  readonly dialect: { loggedAs: Interface }
  readonly connection: { ip(): string | undefined }
  readonly trace?: CallTrace | undefined
}

/** One call of one caller, from its request id on. */
export interface CallContext {
  readonly requestId: string
  readonly atMs: number
  readonly token: Token
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal
  readonly trace?: CallTrace | undefined
  /** Its tags and its end user: see tags.ts. */
  readonly tags?: string | undefined
  /** Set when the gateway makes it itself. */
  readonly own?: OwnCall | undefined
  /** Which retry of its client's it is, as the client says. */
  readonly clientRetry?: number | undefined
  /** Tells its body from others; undefined once the body is no longer there. */
  bodyHash?(): string | undefined
  /** Whether only the first choice of a virtual model may serve it; asked only where there are others. */
  fallback?(): 'never' | undefined | Refusal
  /** The error event in this caller's dialect. */
  errorEvent(refusal: Refusal, stream: FailedStream): Uint8Array
}

/** A call that the gateway makes itself in the name of a token: there is no connection. */
export interface OwnCall {
  readonly token: Token
  /** Of a text interface, such as `/v1/chat/completions`. */
  readonly path: string
  /** JSON, as a caller would send it. */
  readonly body: string
  /** Such as tags. */
  readonly headers?: Readonly<Record<string, string>>
  /** The service tier that it is charged by where its price has that, and it asks for no other. */
  readonly serviceTier?: string
  /** It is made again if money or a limit refuses it: such a refusal is neither logged nor told. */
  readonly isTrial?: boolean
  /**
   * Set: it comes after the calls of callers, and leaves them slots. Called when no channel has one for it:
   * nothing was sent, and nothing is logged.
   */
  full?(): void
  /** Aborted when the answer is no longer wanted. */
  readonly signal?: AbortSignal
  /**
   * Makes a JSON answer durable before its charge is: called once with the answer of a call that will be
   * charged. False: the call is neither charged nor answered.
   */
  keep?(requestId: string, body: string | Uint8Array<ArrayBuffer>): Promise<boolean>
  /** Takes the call once it is read, in place of the engine: its answer comes by another way. */
  instead?(context: CallContext, call: TextCall): Promise<TextAnswer | Refusal>
  /** The task that it is for, which holds and is charged for it: the call itself costs nothing. */
  readonly task?: CallingTask
}

export interface CallingTask {
  readonly heldNanos: bigint
  /** Made durable before each try at a channel. False: the call is no longer wanted, and nothing is sent. */
  begin(channel: Pick<Channel, 'id' | 'name'>): Promise<boolean>
  /** Ends the task by the answer. A refusal: it is not delivered. */
  settle(answer: MadeAnswer, record: RequestRecord): Promise<Refusal | undefined>
}

/** The answer that a caller over HTTP would get. Its own id is in the header `x-gateway-request-id`. */
export type RunOwnCall = (call: OwnCall) => Promise<Response>

/** A stream that fails after it has begun. */
export interface FailedStream {
  /** That went out before. */
  events: number
  /** It was written by the gateway, in the caller's style. */
  isTranslated: boolean
}

export interface TextAnswer {
  /** Its charge, if there is one: of a stream only at its end. */
  record: Pick<RequestRecord, 'requestId' | 'atMs' | 'model' | 'charge' | 'chargeNanos' | 'usage'>
  currency: string
  rate: RateView | undefined
  /** Undefined: the upstream speaks the caller's style. */
  translation: TranslationNote | undefined
  servedModel: string | undefined
  /** Undefined: JSON, or events. */
  contentType: string | undefined
  /** One of these two. */
  body: string | Uint8Array<ArrayBuffer> | undefined
  stream: AnswerStream | undefined
}

/** An answer that comes in pieces. Its source learns from the call's signal that the caller has left. */
export interface AnswerStream {
  /** Called once. */
  start(sink: StreamSink): void
}

/** The way to the caller. */
export interface StreamSink {
  /** A promise: the caller does not read for now; it resolves when there is room again. */
  write(bytes: Uint8Array): undefined | Promise<unknown>
  end(): void
  /** Closes the connection in the middle of the answer. */
  cut(): void
}

export interface TranslationNote {
  /** The caller's style and the upstream's: `messages>chat`. */
  path: string
  /** Fields of the request that were changed or left out. */
  losses: readonly string[]
}

export interface Counted {
  inputTokens: number
  estimated: boolean
  /** How the question was translated for the upstream that counted. */
  translation?: TranslationNote
  rate: RateView | undefined
}

/** The idempotency key of a create and its scope: the same key elsewhere is another one. */
export interface CreateKey {
  path: string
  key: string
}

/** A video as the caller described it; the engine fills in the rest. */
export type VideoParams = Omit<VideoRequest, 'seconds' | 'resolution' | 'bound'> &
  Partial<Pick<VideoRequest, 'seconds' | 'resolution'>>

interface CreateParams {
  interface: Interface
  model: string
  /** The idempotency key: a repeated create under it makes nothing again. */
  key?: CreateKey
  /** It continues a task, and so goes to the channel and key that made that one. */
  pinnedTo?: Pick<Task, 'channelId' | 'keyFingerprint' | 'protocol'>
  externalId?: string
  callbackUrl?: string
}

export type VideoCreate = { kind: 'video'; request: VideoParams } & CreateParams
export type ImageCreate = { kind: 'image'; request: ImageRequest } & CreateParams
export type ResponseCreate = {
  kind: 'response'
  request: ResponseRequest
  call: TextCall
} & CreateParams

/** Besides the call itself. */
export interface BackgroundOptions {
  key?: CreateKey
  /** Of the request, where they say how the call is made. */
  headers: Readonly<Record<string, string>>
}

/** A background response as it is now. */
export interface KeptResponse {
  task: ResponseTask
  /** As JSON; undefined: there is none yet, or none any more. */
  answer: string | undefined
}

/** A task that a create has made, now or earlier. */
export interface Created {
  task: Task
  replayed: boolean
}

/** One image, as far as it could be fetched. */
export interface Image {
  /** Its index among the task's files. */
  part: number
  /** Where the caller asked for its bytes. */
  base64?: string
  /** As a `data:` URL, where the upstream gave no other: only this answer ever has it. */
  inlineUrl?: string
  revisedPrompt?: string
}

export interface MadeImages {
  task: ImageTask
  images: readonly Image[]
  replayed: boolean
}

export interface CallerTaskFilter {
  limit: number
  offset: number
  states?: readonly TaskState[] | undefined
  /** Either id: the gateway's or an upstream's. */
  ids?: readonly string[] | undefined
  /** The plain name, or the upstream's. */
  model?: string | undefined
  interfaces?: readonly Interface[] | undefined
  protocol?: Protocol | undefined
}

interface TaskPage {
  limit: number
  after?: string | undefined
  order?: 'asc' | 'desc' | undefined
}

/** The address of one of a task's files. */
export type LinkTo = (task: Task, part: number) => string

export interface FileLink {
  taskId: string
  part: number
  until: number
  sig: string
}

/** What the caller wants of a file. */
export interface ContentOptions {
  /** The first of its kind, or by index; the video by default. */
  file?: OutputMedia['kind'] | number
  /** One byte range, as in its header. */
  range?: string | undefined
  /** The range applies only to the file with this tag; otherwise the whole file is sent. */
  ifRange?: string | undefined
  /** Aborted when the caller hangs up. */
  signal?: AbortSignal
  /** The caller needs the bytes; a redirect does not help. */
  noRedirect?: true
}

/** Bytes to pass on. A `Blob`, such as a local file, is sent with its length. */
export interface ContentBody {
  status: 200 | 206
  body: ReadableStream<Uint8Array> | Blob
  contentType: string
  lengthBytes?: number
  contentRange?: string
  /** Equal tags mean equal bytes. */
  etag?: string
}

export type Content =
  | ContentBody
  /** The file has no such part. */
  | { status: 416; sizeBytes?: number }
  /** The caller may fetch it there directly. */
  | { status: 302; location: string }

/** What a usage report can be grouped by. */
export const usageKeys = [
  'month',
  'day',
  'hour',
  'model',
  'unit',
  'token',
  'tier',
  'price',
] as const

export interface UsageAsk {
  fromMs: number
  untilMs: number
  by: readonly (typeof usageKeys)[number][]
  /** Also by this. */
  tagKey?: TagKey | undefined
  /** What this token has spent, not its account. */
  ownOnly: boolean
  limit: number
  cursor: string | undefined
}

type Maybe<Result> = Promise<Result | Refusal>

/** The models as callers see them. */
export interface CallerModels {
  visible(token: Token, name: string): Model | undefined
  /** Why one that is not visible cannot be used. */
  refusalOf(token: Token, name: string): Refusal
  list(token: Token): Model[]
  /** Also one that no interface serves, if the token may use it. */
  isNamed(token: Token, name: string): boolean
  /** Any model, without a check of permissions. */
  find(name: string): Model | undefined
  /** The interfaces that serve it to this token now. */
  servedBy(token: Token, model: Model): InterfaceRow[]
}

export interface CallerApi extends BatchApi {
  /** Of all amounts. */
  readonly currency: string
  /** Base of the URLs that are given out. */
  readonly publicUrl: string
  nowMs(): number
  readonly models: CallerModels

  /** The token of a credential. A refusal is logged, counted and recorded. */
  authenticate(request: CallerRequest, credential: string | Refusal): Token | Refusal
  /** Why any request of this caller would be refused. `mayBeFree`: this one may cost nothing. */
  refusalBeforeBody(token: Token, mayBeFree?: boolean): Refusal | undefined
  /** These tags with the end user that the body of a call names, as its account keeps end users. */
  withEndUser(
    token: Token,
    tags: string | undefined,
    fields: Readonly<Record<string, unknown>>,
  ): string | undefined
  /** Records a call that could not be parsed, under the model it named; returns the refusal. */
  refuseCall(context: CallContext, surface: Interface, model: string, refusal: Refusal): Refusal
  /** Records a refused read. */
  refuseRead(request: CallerRequest, token: Token, refusal: Refusal): Refusal

  runText(context: CallContext, call: TextCall): Maybe<TextAnswer>
  countInput(context: CallContext, call: TextCall): Maybe<Counted>

  createTask(context: CallContext, create: VideoCreate | ImageCreate): Maybe<Created>
  /** A response that is made in the background. */
  createResponse(
    context: CallContext,
    call: TextCall,
    options: BackgroundOptions,
  ): Maybe<KeptResponse & { replayed: boolean }>
  readResponse(token: Token, id: string): Promise<KeptResponse | undefined>
  /** As it is then: one that is over stays as it is. */
  cancelResponse(token: Token, id: string): Maybe<KeptResponse>
  /** Cancels it if it is not over. */
  deleteResponse(token: Token, id: string): Maybe<Task>
  /** Waits until they are made. */
  makeImages(context: CallContext, create: ImageCreate & { wantsBytes: boolean }): Maybe<MadeImages>
  /** The checked callback URL; undefined when none is wanted. */
  callbackIn(value: unknown): { callbackUrl?: string } | Refusal
  /**
   * By the gateway's id or the upstream's. Another account's task is not found, nor one of another
   * kind.
   */
  findTask<Kind extends TaskKind>(
    token: Token,
    id: string,
    kind: Kind,
  ): Promise<Extract<Task, { kind: Kind }> | undefined>
  /** Also one deleted since: a list continues after it. */
  isOwnVideo(token: Token, id: string): Promise<boolean>
  listVideos(token: Token, page: TaskPage): Promise<VideoTask[]>
  /** Of all video surfaces, unless the filter names some. */
  searchVideos(
    token: Token,
    filter: CallerTaskFilter,
  ): Promise<{ tasks: VideoTask[]; total: number }>
  searchImages(token: Token, filter: CallerTaskFilter): Promise<ImageTask[]>
  cancelVideo(token: Token, id: string): Maybe<VideoTask>
  /** Hides a task that is over from its caller; the ledger keeps it. */
  hideTask(token: Token, id: string): Maybe<Task>

  readonly linkTo: LinkTo
  followLink(link: FileLink): Maybe<Task>
  openContent(task: Task, input: ContentOptions): Maybe<Content>
  /** `name`: a plain file name with its signature behind it. */
  openSandboxMedia(name: string, input: ContentOptions): Maybe<Content>

  reportUsage(token: Token, ask: UsageAsk): Maybe<object>
  listMonths(token: Token, page: Pick<UsageAsk, 'limit' | 'cursor'>): Maybe<object>
  /** A month that has begun, or why it is invalid. */
  begunMonth(month: string): string | Refusal
  showBill(token: Token, month: string, groupBy?: string): Maybe<object>
  openBillFile(token: Token, month: string): Maybe<ReadableStream<Uint8Array>>
}
