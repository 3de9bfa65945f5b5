// A task upstream as a table: URLs, bodies, and how its replies are read. Create, poll, cancel and
// search work the same for all. Some upstreams answer a create with the result: for those that do
// nothing else, the create part of the table is enough.
import type { Protocol } from '../../contract/catalog.ts'
import type {
  Found,
  HttpPort,
  LostCreate,
  Started,
  TaskReport,
  TaskUpstream,
  UpstreamError,
  VideoOutlook,
} from '../../contract/provider.ts'
import type { VideoRequest } from '../../contract/task.ts'
import type { Json, Reply } from './listen.ts'

/** One create as it goes up. */
export interface Order {
  url: string
  headers?: Readonly<Record<string, string>>
  /** Becomes JSON; bytes go as they are, and the headers say what they are. */
  body: unknown
  /** The model it asks for, where that is not the route's. */
  upstreamModel?: string
}

/** The upstream has no use for the request, or something of it cannot be had. */
export interface Problem {
  problem: string
}

export type Call = ReturnType<HttpPort['post']>

/** Asks for a page of something: its body, or why there is none. */
export type AskPage = (
  url: string,
) => Promise<{ body: Json } | { error: UpstreamError; isMissing?: true }>

export type FinishedReport = Extract<Started, { kind: 'finished' }>['report']

/** What a create is, and how its answer reads. */
export interface CreateStyle<Request> {
  /** The key, in the header it belongs in. */
  auth(upstream: TaskUpstream): Readonly<Record<string, string>>
  order(request: Request, upstream: TaskUpstream): Order | Problem | Promise<Order | Problem>
  /** How long an answer may be; left out: longer than any that holds no picture. */
  maxAnswerBytes?: number
  /**
   * Reads the outcome of a create from a reply, before its status counts: nothing was made
   * (`refused`), or unknown. Undefined or absent leaves it to the status.
   */
  verdict?(reply: Reply, upstream: TaskUpstream): 'refused' | 'unknown' | undefined
  /** What was made, where it came with the answer. */
  atOnce?(body: Json, upstream: TaskUpstream): FinishedReport | undefined
  /** What stands where the id of a new task should be. Left out: there never is one. */
  createdId?(body: Json): unknown
  /** Left out: anything printable that leads nowhere else. */
  isTaskId?(id: string): boolean
  requestIdOf(reply: Reply): string | undefined
  errorOf(reply: Reply): UpstreamError
  /** Whether a body says no in this upstream's way. */
  isRefusal(body: Json, status: number): boolean
}

export interface TaskStyle<Request = VideoRequest> extends CreateStyle<Request> {
  protocol: Protocol
  /** What is added to a channel's base address, for people to read. */
  path: string
  /** Result files need the key. */
  filesNeedKey?: boolean
  createdId(body: Json): unknown
  /** What a request can come to; left out where the engine need not know. */
  outlook?(request: Request, plainModel: string): VideoOutlook
  taskUrl(upstream: TaskUpstream, upstreamId: string): string
  /** Whether an answer says that there is no such task. Left out: its status is 404. */
  isMissing?(reply: Reply): boolean
  /** The task id of a reply; empty when it has none. */
  accountOf(body: Json): string
  /** Left out: the ids are equal. */
  isSame?(told: string, upstreamId: string): boolean
  /** Undefined when it is no account of a task. */
  report(body: Json, upstream: TaskUpstream, requestId: string | undefined): TaskReport | undefined
  cancel?: {
    call(upstream: TaskUpstream, taskUrl: string, headers: Record<string, string>): Call
    isTooLate(reply: Reply, error: UpstreamError): boolean
  }
  find?(lost: LostCreate<Request>, upstream: TaskUpstream, ask: AskPage): Promise<Found>
}
