// What a surface may ask of the engine on behalf of a caller: permission, calls, tasks, files, usage.
// A surface says what was asked for; what is held, charged and recorded is decided behind this.
import type { Interface, InterfaceRow, Model, Protocol, Token } from './catalog.ts'
import type { Refusal } from './errors.ts'
import type { RateView } from './rate.ts'
import type { CallTrace, TextCall } from './requests.ts'
import type {
  ImageRequest,
  ImageTask,
  OutputMedia,
  Task,
  TaskKind,
  TaskState,
  VideoRequest,
  VideoTask,
} from './task.ts'

/** A request before anything is known of who sent it. */
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
  /** How an error looks to this caller inside a stream of which `events` have gone out. */
  errorEvent(refusal: Refusal, events: number): Uint8Array
}

export type TextAnswer = { rate: RateView | undefined } & (
  | { body: string }
  | { stream: ReadableStream<Uint8Array> }
)

export interface Counted {
  inputTokens: number
  estimated: boolean
  rate: RateView | undefined
}

/** What the caller calls its create, and where: the same key elsewhere is another one. */
export interface CreateKey {
  path: string
  key: string
}

/** A video as far as its caller described it; the engine decides the rest. */
export type VideoParams = Omit<VideoRequest, 'seconds' | 'resolution' | 'bound'> &
  Partial<Pick<VideoRequest, 'seconds' | 'resolution'>>

interface CreateParams {
  interface: Interface
  model: string
  /** The caller's name for this create; asked again under it, nothing is made again. */
  key?: CreateKey
  /** It continues a task, and so goes to the channel and by the key that made that one. */
  pinnedTo?: Pick<Task, 'channelId' | 'keyMark' | 'protocol'>
  externalId?: string
  callbackUrl?: string
}

export type VideoCreate = { kind: 'video'; request: VideoParams } & CreateParams
export type ImageCreate = { kind: 'image'; request: ImageRequest } & CreateParams

/** A task that a create has made, now or before. */
export interface Created {
  task: Task
  replayed: boolean
}

/** One image, as far as it could be had. */
export interface Image {
  /** Its place among the task's files. */
  part: number
  /** Where the caller asked for them. */
  bytes?: Uint8Array
  /** As a `data:` address, where the upstream gave no other: only this answer ever has it. */
  inlineUrl?: string
  revisedPrompt?: string
}

export interface MadeImages {
  task: ImageTask
  pictures: readonly Image[]
  replayed: boolean
}

export interface CallerTaskFilter {
  limit: number
  offset: number
  states?: readonly TaskState[] | undefined
  /** Of either kind: the gateway's or an upstream's. */
  ids?: readonly string[] | undefined
  /** The plain name, or the upstream's. */
  model?: string | undefined
  interfaces?: readonly Interface[] | undefined
  protocol?: Protocol | undefined
}

export interface TaskPage {
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
  /** The first of its kind, or by its place; the video unless it is said. */
  file?: OutputMedia['kind'] | number
  /** One range of bytes, as its header says it. */
  range?: string | undefined
  /** The range counts only for the file with this tag; otherwise the whole is wanted. */
  ifRange?: string | undefined
  /** Aborted when the caller hangs up. */
  signal?: AbortSignal
  /** The bytes are wanted here; an address is no use. */
  noRedirect?: true
}

/** Bytes to pass on. A `Blob`, such as a file of this machine, is sent with its length. */
export interface ContentBody {
  status: 200 | 206
  body: ReadableStream<Uint8Array> | Blob
  contentType: string
  lengthBytes?: number
  contentRange?: string
  /** Equal tags, equal bytes. */
  etag?: string
}

export type Content =
  | ContentBody
  /** The file has no such part. */
  | { status: 416; sizeBytes?: number }
  /** The caller may fetch it there by itself. */
  | { status: 302; location: string }

/** What a report of usage can be grouped by. */
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
  /** What this token alone has spent, not its account. */
  ownOnly: boolean
  limit: number
  cursor: string | undefined
}

type Maybe<Result> = Promise<Result | Refusal>

/** The models as callers see them. */
export interface CallerModels {
  visible(token: Token, name: string): Model | undefined
  list(token: Token): Model[]
  /** Also one that no interface reaches, if the token may use it. */
  isNamed(token: Token, name: string): boolean
  /** Whatever its name, and whoever may use it. */
  find(name: string): Model | undefined
  /** The interfaces by which it can be asked now. */
  servedBy(model: Model): InterfaceRow[]
}

export interface CallerApi {
  /** Base of the addresses that are handed out. */
  readonly publicUrl: string
  nowMs(): number
  readonly models: CallerModels

  /** Whose credential it is. A refusal is logged, counted and recorded. */
  authenticate(request: CallerRequest, credential: string | Refusal): Token | Refusal
  /** Why whatever the caller sends would be refused. `mayRepeat`: it may get an earlier answer. */
  refusalBeforeBody(token: Token, mayRepeat?: boolean): Refusal | undefined
  /** Records a call that could not be read, under the model it named; gives the refusal back. */
  refuseCall(context: CallContext, surface: Interface, model: string, refusal: Refusal): Refusal
  /** Records a refused read. */
  refuseRead(request: CallerRequest, token: Token, refusal: Refusal): Refusal

  runText(context: CallContext, call: TextCall): Maybe<TextAnswer>
  countInput(context: CallContext, call: TextCall): Maybe<Counted>

  createTask(context: CallContext, create: VideoCreate | ImageCreate): Maybe<Created>
  /** Waits until they are made. */
  makeImages(context: CallContext, create: ImageCreate & { wantsBytes: boolean }): Maybe<MadeImages>
  /** The address for a notice, judged; nothing when none is wanted. */
  callbackIn(value: unknown): { callbackUrl?: string } | Refusal
  /** By the gateway's id or the upstream's. A foreign task is no task, nor is one of another kind. */
  findTask<Kind extends TaskKind>(
    token: Token,
    id: string,
    kind: Kind,
  ): Promise<Extract<Task, { kind: Kind }> | undefined>
  /** Also one that was put away since: a list goes on after it. */
  isOwnVideo(token: Token, id: string): Promise<boolean>
  listVideos(token: Token, page: TaskPage): Promise<VideoTask[]>
  /** Of all video surfaces, unless the filter names some. */
  searchVideos(
    token: Token,
    filter: CallerTaskFilter,
  ): Promise<{ tasks: VideoTask[]; total: number }>
  searchImages(token: Token, filter: CallerTaskFilter): Promise<ImageTask[]>
  cancelVideo(token: Token, id: string): Maybe<VideoTask>
  /** A task that is over goes out of its caller's sight; the books keep it. */
  hideTask(token: Token, id: string): Maybe<Task>

  readonly linkTo: LinkTo
  followLink(link: FileLink): Maybe<Task>
  openContent(task: Task, input: ContentOptions): Maybe<Content>
  /** `name`: a plain file name with its signature behind it. */
  openSandboxMedia(name: string, input: ContentOptions): Maybe<Content>

  reportUsage(token: Token, ask: UsageAsk): Maybe<object>
  listMonths(token: Token, page: Pick<UsageAsk, 'limit' | 'cursor'>): Maybe<object>
  /** A month that has begun, or why this is none. */
  begunMonth(month: string): string | Refusal
  showBill(token: Token, month: string): Maybe<object>
  openBillFile(token: Token, month: string): Maybe<ReadableStream<Uint8Array>>
}
