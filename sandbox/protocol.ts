// What a simulated protocol offers, and what it is given. One file or folder per protocol and one
// line in registry.ts. A protocol decides what to answer; it never touches a socket or a timer.
import type { Protocol } from '../src/contract/catalog.ts'
import type { Directives } from './http/directives.ts'
import type { TaskMemory } from './tasks/task-memory.ts'

export interface SandboxSettings {
  /** How long an image or video task takes. */
  taskSeconds: number
  now: () => number
  /** Whose seals on reasoning it makes and takes. */
  maker: string
}

/** One call as the protocol sees it. */
export interface Call {
  /** Goes out in the headers. */
  id: string
  /** The credential as presented, empty when there was none. */
  key: string
  /** Named groups of the route's path. */
  params: Readonly<Record<string, string>>
  /** What follows the path. */
  search: URLSearchParams
  headers: Headers
  nowMs: number
  /** Where the sandbox itself is reached, for addresses it hands out. */
  origin: string
  /** The body, JSON or a form; empty for calls without one. */
  fields: Readonly<Record<string, unknown>>
  directives: Directives
}

/** A refusal before it has the protocol's shape. */
export interface Fault {
  status: number
  message: string
  reason?: 'content_policy' | 'missing_field' | 'unknown_path' | 'model_not_found'
  param?: string
  /** The protocol's own word, where status and reason do not tell. */
  code?: string
}

/** The code of a prompt that is too long, which every text protocol tells in words of its own. */
export const contextLength = 'context_length_exceeded'

interface Counts {
  promptTokens: number
  completionTokens: number
  /** Handed out in the answer itself. */
  images?: number
}

export interface StreamEvent {
  /** As it goes over the wire, blank line included. */
  wire: string
  outputTokens: number
}

export type Answer =
  | { kind: 'fault'; fault: Fault }
  /** Nothing ever comes. */
  | { kind: 'no-reply' }
  | { kind: 'whole'; contentType: string; body: string | Uint8Array<ArrayBuffer>; counts?: Counts }
  | {
      kind: 'stream'
      promptTokens: number
      events: Iterable<StreamEvent>
      /** Where it is not server-sent events. */
      contentType?: string
    }

/** A task is created at once and then takes its time; any other answer is late itself. */
type Slowed = 'answer' | 'task'

export interface Route {
  method: string
  path: RegExp
  /** A POST may come without a body. */
  bodyOptional?: boolean
  /** A form may come instead of JSON. */
  takesForms?: boolean
  /** Directives in it are for its lines. */
  isBatch?: boolean
  /** Files of forms are read as texts. */
  keepsFiles?: boolean
  /** Where it is not as with the rest of the protocol. */
  delaySlows?: Slowed | ((fields: Readonly<Record<string, unknown>>) => Slowed)
  /** Where it takes its credential, if not as the rest of the protocol. */
  readKey?: (headers: Headers) => string
  answer(call: Call): Answer
}

export interface SimulatedProtocol {
  protocol: Protocol
  /** What a channel's address for this protocol ends in. */
  basePath: string
  routes: readonly Route[]
  delaySlows: Slowed
  /** Requests are small enough, and telling enough, to be kept for tests. */
  keepsRequests?: true
  /** Headers that carry the id of a call. */
  idHeaders: readonly string[]
  readKey(headers: Headers): string
  /** What is wrong with a credential; absent where it only has to be the one that is wanted. */
  faultOfKey?(headers: Headers, wanted: string | undefined): Fault | undefined
  /** Who the caller says its own user is. */
  readUser(fields: Readonly<Record<string, unknown>>): unknown
  errorBody(fault: Fault, id: string): unknown
  /** An error inside a stream after `position` events; absent where nothing is streamed. */
  errorEvent?(fault: Fault, position: number): string
  /** Where work goes on after the answer; absent where it does not. */
  tasks?: Pick<TaskMemory, 'list' | 'annotate'>
}

/** Made once per server, so that a protocol's memory (caches, tasks) ends with its server. */
export type ProtocolMaker = (settings: SandboxSettings) => SimulatedProtocol

export const bearerKey = (headers: Headers): string =>
  /^Bearer +(.+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? ''

/** In any of the headers that a list of models is asked with. */
export const anyKey = (headers: Headers): string =>
  bearerKey(headers) || (headers.get('x-api-key') ?? headers.get('x-goog-api-key') ?? '')

export const plainUser = (fields: Readonly<Record<string, unknown>>): unknown => fields['user']

/** An event with a name, which is also the type of what it carries. */
export const namedEvent = (value: { type: string }, outputTokens = 0): StreamEvent => ({
  wire: `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`,
  outputTokens,
})

export const jsonAnswer = (value: unknown, counts?: Counts): Answer => ({
  kind: 'whole',
  contentType: 'application/json',
  body: JSON.stringify(value),
  ...(counts === undefined ? {} : { counts }),
})
