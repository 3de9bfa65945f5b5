// What every surface is made of: routes that turn a caller's shape into a plain request and the
// plain result back. A route runs only for an authenticated caller.

import type { Hono } from 'hono'
import type {
  CallContext,
  CallerApi,
  FailedStream,
  LinkTo,
  OwnCall,
} from '../../contract/caller-api.ts'
import type { InterfaceRow, Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { CallTrace, TextCall } from '../../contract/requests.ts'
import { readTags, tagsHeader } from '../../contract/tags/index.ts'
import type { Task } from '../../contract/task.ts'
import type { BodyLimits } from '../../http/body/read-json.ts'
import { credentialOf, missingCredential } from '../../http/credentials.ts'
import type { Dialect, DialectDeclaration } from '../../http/dialect.ts'
import type { Operation } from '../../http/operation.ts'
import { errorBody } from '../../http/render-error.ts'
import type { RequestContext } from '../../http/request-context.ts'

export interface Env {
  Bindings: { context: RequestContext }
}
export type App = Hono<Env>

export interface SurfaceDeps {
  api: CallerApi
  limits: BodyLimits
  /** A POST route on an exact path, looked up before the router: for the busiest ones. */
  hotPost(path: string, answer: (x: RequestContext) => Promise<Response>): void
}

export interface Surface extends DialectDeclaration {
  name: string
  /** Left out by surfaces that serve no model. */
  interface?: InterfaceRow
  /** Its documentation, loaded on first use. */
  operations(): Promise<readonly Operation[]>
  mount(app: App, deps: SurfaceDeps): void
  /** The path of the surface that another one stands for; undefined: it stands for itself. */
  aliasOf?(path: string): string | undefined
  /** The callback body for the end of a task that was created here. */
  notice?(task: Task, linkTo: LinkTo): object
}

/** The caller is known before a byte of the body is read. */
export function callerOf(api: CallerApi, x: RequestContext): Token | Refusal {
  const token = x.own?.token ?? api.authenticate(x, credentialOf(x) ?? missingCredential(x))
  if (!(token instanceof Refusal)) x.payer = token.accountId
  return token
}

/** A call whose stream fails. */
export interface FailedCall extends FailedStream {
  requestId: string
  atMs: number
  call: TextCall | undefined
}

type ErrorEvent = (errorBody: string, failed: FailedCall) => string

export class Caller implements CallContext {
  readonly requestId: string
  readonly atMs: number
  readonly token: Token
  readonly signal: AbortSignal
  readonly trace: CallTrace | undefined
  readonly own: OwnCall | undefined
  readonly clientRetry: number | undefined
  tags: string | undefined
  /** Set once it is read. */
  call: TextCall | undefined
  readonly #dialect: Dialect
  readonly #request: Request
  readonly #errorEvent: ErrorEvent

  constructor(x: RequestContext, token: Token, errorEvent: ErrorEvent) {
    this.requestId = x.requestId
    this.atMs = x.atMs
    this.token = token
    this.signal = x.request.signal
    this.trace = x.trace
    this.own = x.own
    this.clientRetry = retryIn(x.request)
    this.tags = token.tagDefaults
    this.#dialect = x.dialect
    this.#request = x.request
    this.#errorEvent = errorEvent
  }

  fallback(): 'never' | undefined | Refusal {
    const said = this.#request.headers.get('x-gateway-fallback')?.trim().toLowerCase()
    if (said === undefined || said === '' || said === 'allowed') return undefined
    if (said === 'never') return said
    const message = "'x-gateway-fallback' must be never or allowed"
    return refuse('invalid_request', message, { param: 'x-gateway-fallback' })
  }

  bodyHash(): string | undefined {
    const body = this.call?.body
    return body ? Bun.hash.xxHash64(body).toString(36) : undefined
  }

  errorEvent(refusal: Refusal, stream: FailedStream): Uint8Array {
    const { requestId, atMs, call } = this
    const body = errorBody(refusal, requestId, this.#dialect, this.#request)
    return Buffer.from(this.#errorEvent(body, { ...stream, requestId, atMs, call }))
  }
}

/** The SDKs of OpenAI and Anthropic, and others made by the same generator, say it; Google's do not. */
function retryIn({ headers }: Request): number | undefined {
  const said = headers.get('x-stainless-retry-count')
  return said === null || said === '0' || !/^\d{1,3}$/.test(said) ? undefined : Number(said)
}

/** Gives the call the tags of its header. */
export function tagCall(ctx: Caller, { request }: RequestContext): Refusal | undefined {
  const header = request.headers.get(tagsHeader)
  if (header === null) return undefined
  const tags = readTags(header, ctx.token)
  if (tags instanceof Refusal) return tags
  ctx.tags = tags
  return undefined
}
