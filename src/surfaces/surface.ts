// What every surface is made of: routes that turn a caller's shape into a plain request and the
// plain result back. A route runs only for a caller that has been let in.
import type { Hono } from 'hono'
import type { Token } from '../contract/catalog.ts'
import { Refusal } from '../contract/errors.ts'
import { authenticate } from '../engine/authenticate.ts'
import type { CallContext, Engine } from '../engine/engine.ts'
import { credentialOf } from '../http/credentials.ts'
import type { Exchange } from '../http/exchange.ts'
import type { BodyLimits } from '../http/read-json.ts'
import { errorBody } from '../http/render-error.ts'

export interface Env {
  Bindings: { exchange: Exchange }
}
export type App = Hono<Env>

export interface SurfaceDeps {
  engine: Engine
  limits: BodyLimits
  /** A POST route on an exact path, looked up ahead of the router: for what is called most. */
  hotPost(path: string, answer: (x: Exchange) => Promise<Response>): void
}

export interface Surface {
  name: string
  mount(app: App, deps: SurfaceDeps): void
}

type Work = (x: Exchange, token: Token) => Promise<Response | Refusal> | Response | Refusal

/** Who asks is settled before a byte of the body is read. */
export function asCaller(engine: Engine, x: Exchange, work: Work): ReturnType<Work> {
  const secret = credentialOf(x)
  if (secret instanceof Refusal) return secret
  const token = authenticate(engine, secret, x.connection.ip)
  return token instanceof Refusal ? token : work(x, token)
}

export const contextOf = (x: Exchange, token: Token): CallContext => ({
  requestId: x.requestId,
  atMs: x.atMs,
  token,
  signal: x.request.signal,
  errorBody: (refusal) => errorBody(refusal, x.requestId, x.path),
})
