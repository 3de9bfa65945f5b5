// A task upstream as a table: URLs, bodies, and how its replies are read. Create, poll, cancel and
// search work the same for all. Some upstreams answer a create with the result: for those that do
// nothing else, the create part of the table is enough.
import type { Protocol } from '../../contract/catalog.ts'
import type { HttpPort } from '../../contract/http.ts'
import type {
  Found,
  LostCreate,
  Started,
  TaskReport,
  TaskUpstream,
  UpstreamError,
  VideoOutlook,
} from '../../contract/provider.ts'
import type { VideoRequest } from '../../contract/task.ts'
import type { Json, Reply } from './read-reply.ts'

/** One create as sent upstream. */
export interface CreateRequest {
  url: string
  headers?: Readonly<Record<string, string>>
  /** Sent as JSON; bytes are sent unchanged, and the headers name their type. */
  body: unknown
  /** The requested model, where that is not the route's. */
  upstreamModel?: string
}

/** The upstream cannot serve the request, or part of it could not be fetched. */
export interface Problem {
  problem: string
}

type Call = ReturnType<HttpPort['post']>

/** Requests a page: returns its body, or why there is none. */
export type AskPage = (
  url: string,
) => Promise<{ body: Json } | { error: UpstreamError; isMissing?: true }>

export type FinishedReport = Extract<Started, { kind: 'finished' }>['report']

/** The create request, and how its reply is read. */
export interface CreateStyle<Request> {
  /** The key, in the header it belongs in. */
  auth(upstream: TaskUpstream): Readonly<Record<string, string>>
  buildRequest(
    request: Request,
    upstream: TaskUpstream,
  ): CreateRequest | Problem | Promise<CreateRequest | Problem>
  /** Maximum size of a reply; absent: longer than any without an image. */
  maxAnswerBytes?: number
  /**
   * Reads the outcome of a create from a reply, before its status counts: nothing was made
   * (`refused`), or unknown. Undefined or absent leaves it to the status.
   */
  verdict?(reply: Reply, upstream: TaskUpstream): 'refused' | 'unknown' | undefined
  /** The result, where it came with the reply. */
  atOnce?(
    body: Json,
    upstream: TaskUpstream,
  ): FinishedReport | undefined | Promise<FinishedReport | undefined>
  /** The value in place of a new task's id. Absent: there never is one. */
  createdId?(body: Json): unknown
  /** Absent: anything printable that is safe in a path. */
  isTaskId?(id: string): boolean
  requestIdOf(reply: Reply): string | undefined
  errorOf(reply: Reply): UpstreamError
  /** Whether a body is a refusal in this upstream's format. */
  isRefusal(body: Json, status: number): boolean
}

export interface TaskStyle<Request = VideoRequest> extends CreateStyle<Request> {
  protocol: Protocol
  /** The path after a channel's base URL, for display. */
  path: string
  /** Result files need the key. */
  filesNeedKey?: boolean
  createdId(body: Json): unknown
  /** The maximum of a request; absent where the engine need not know. */
  outlook?(request: Request, plainModel: string): VideoOutlook
  taskUrl(upstream: TaskUpstream, upstreamId: string): string
  /** Whether a reply means that there is no such task. Absent: its status is 404. */
  isMissing?(reply: Reply): boolean
  /** The task id of a reply; empty when it has none. */
  taskIdOf(body: Json): string
  /** Absent: the ids are equal. */
  isSame?(named: string, upstreamId: string): boolean
  /** Undefined when it is no task status. */
  report(body: Json, upstream: TaskUpstream, requestId: string | undefined): TaskReport | undefined
  cancel?: {
    call(upstream: TaskUpstream, taskUrl: string, headers: Record<string, string>): Call
    isTooLate(reply: Reply, error: UpstreamError): boolean
  }
  find?(lost: LostCreate<Request>, upstream: TaskUpstream, ask: AskPage): Promise<Found>
}
