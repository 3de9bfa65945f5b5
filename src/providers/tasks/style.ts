// What an upstream of tasks is, as a table: where to ask, what to send, and how its answers read.
// How a create, a question, a cancel and a search go is the same for all of them.
import type { Protocol } from '../../contract/catalog.ts'
import type {
  Found,
  HttpDoor,
  LostCreate,
  TaskReport,
  TaskUpstream,
  UpstreamError,
} from '../../contract/provider.ts'
import type { VideoRequest } from '../../contract/task.ts'
import type { Heard, Json } from './listen.ts'

/** One create as it goes up. */
export interface Order {
  url: string
  headers?: Readonly<Record<string, string>>
  body: unknown
  /** The model it asks for, where that is not the route's. */
  upstreamModel?: string
}

/** The upstream has no use for the request, or something of it cannot be had. */
export interface Problem {
  problem: string
}

export type Call = ReturnType<HttpDoor['post']>

/** Asks for a page of something: its body, or why there is none. */
export type AskPage = (url: string) => Promise<{ body: Json } | { error: UpstreamError }>

export interface TaskStyle {
  protocol: Protocol
  /** The key, in the header it belongs in. */
  auth(upstream: TaskUpstream): Readonly<Record<string, string>>
  /** The files of its results are given to whoever has the key. */
  filesNeedKey?: boolean
  order(request: VideoRequest, upstream: TaskUpstream): Order | Problem | Promise<Order | Problem>
  /** What stands where the id of a new task should be. */
  createdId(body: Json): unknown
  /** Left out: anything printable that leads nowhere else. */
  isTaskId?(id: string): boolean
  taskUrl(upstream: TaskUpstream, upstreamId: string): string
  /** Whose account an answer is; empty when it does not say. */
  accountOf(body: Json): string
  /** Left out: the ids are equal. */
  isSame?(told: string, upstreamId: string): boolean
  /** Undefined when it is no account of a task. */
  report(body: Json, upstream: TaskUpstream, requestId: string | undefined): TaskReport | undefined
  requestIdOf(heard: Heard): string | undefined
  errorOf(heard: Heard): UpstreamError
  /** Whether a body says no in this upstream's way. */
  isRefusal(body: Json, status: number): boolean
  cancel?: {
    call(upstream: TaskUpstream, taskUrl: string, headers: Record<string, string>): Call
    isTooLate(heard: Heard, error: UpstreamError): boolean
  }
  find?(lost: LostCreate<VideoRequest>, upstream: TaskUpstream, ask: AskPage): Promise<Found>
}
