// All routes on one screen. Gives a function from request to response that never throws.
import { Hono } from 'hono'
import { admin } from './admin/index.ts'
import type { Config } from './config.ts'
import { refuse } from './contract/errors.ts'
import type { Engine } from './engine/engine.ts'
import {
  answerJson,
  answerPreflight,
  type Exchange,
  isDataPlane,
  newExchange,
} from './http/exchange.ts'
import { answerRefusal } from './http/render-error.ts'
import { surfaces } from './surfaces/index.ts'
import type { App, Env } from './surfaces/surface.ts'

export interface AppDeps {
  engine: Engine
  limits: Config['limits']
  isAdmin: (secret: string) => boolean
  /** JSON Schema of gateway.yaml. */
  configSchema: () => Promise<string>
}

export type Handle = (
  request: Request,
  ip: () => string | undefined,
) => Response | Promise<Response>

export function createApp({ engine, limits, isAdmin, configSchema }: AppDeps): Handle {
  const app: App = new Hono<Env>()
  for (const surface of surfaces) surface.mount(app, { engine, limits })
  app.route('/admin/v1', admin({ engine, limits, isAdmin }))

  app.get('/healthz', ({ env }) => answerJson(env.exchange, '{"status":"ok"}'))
  app.get('/readyz', ({ env }) => answerReady(env.exchange, engine))
  app.get('/config.schema.json', async ({ env }) => answerJson(env.exchange, await configSchema()))
  app.get('/', ({ env }) => answerJson(env.exchange, '{"name":"model-gateway"}'))

  app.notFound(({ env }) => answerRefusal(env.exchange, notRouted(app, env.exchange)))
  app.onError((error, { env: { exchange } }) => {
    engine.log.error('unexpected error', { request_id: exchange.requestId, error })
    return answerRefusal(exchange, refuse('internal_error', 'something went wrong in the gateway'))
  })

  return (request, ip) => {
    const exchange = newExchange(request, ip)
    if (request.method === 'OPTIONS' && isDataPlane(exchange.path)) return answerPreflight(exchange)
    return app.fetch(request, { exchange })
  }
}

function answerReady(x: Exchange, engine: Engine): Response {
  const ready = !engine.draining && engine.store.healthy
  const status = engine.draining ? 'draining' : ready ? 'ready' : 'store not writable'
  return answerJson(x, JSON.stringify({ status }), ready ? 200 : 503)
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

function notRouted(app: App, { path, request }: Exchange) {
  const allowed = methods.filter((method) => app.router.match(method, path)[0].length > 0)
  if (allowed.length > 0) {
    return refuse('method_not_allowed', `${request.method} is not possible on ${path}`, {
      param: allowed.join(', '),
    })
  }
  return refuse('not_found', `there is nothing at ${path}${hintFor(path)}`)
}

/** The commonest mistakes are in the base address. */
function hintFor(path: string): string {
  if (path.includes('//')) return '; the path has a doubled slash'
  if (path.startsWith('/v1/v1/')) return '; the base address ends in /v1 already'
  if (/^\/(?:chat|responses|messages|embeddings|images|videos|models)\b/.test(path)) {
    return `; did you mean /v1${path}?`
  }
  return ''
}
