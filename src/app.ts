// All routes in one place. Returns a function from request to response that never throws.
import { Hono } from 'hono'
import { admin, adminPath } from './admin/index.ts'
import { loadRoutes, partOf } from './admin/load-routes.ts'
import type { OidcProvider } from './admin/oidc/provider.ts'
import type { AdminRoute } from './admin/route.ts'
import { healthFactsOf } from './admin/system/health-facts.ts'
import type { Config } from './config/index.ts'
import { type Refusal, refuse } from './contract/errors.ts'
import type { ReloadOutcome } from './contract/reload.ts'
import { createCallerApi } from './engine/caller-api.ts'
import type { Engine } from './engine/engine.ts'
import { clockProblem } from './engine/telemetry/clock-watch.ts'
import { beginTrace } from './engine/telemetry/traces/begin-trace.ts'
import { credentialOf } from './http/credentials.ts'
import type { Dialect } from './http/dialect.ts'
import { isLocal } from './http/is-local.ts'
import { answerRefusal } from './http/render-error.ts'
import {
  answerHeaders,
  answerJson,
  answerPreflight,
  type Connection,
  newRequestContext,
  type RequestContext,
} from './http/request-context.ts'
import { publicPem } from './lib/crypto/signing.ts'
import type { ApiDocument } from './openapi/serve.ts'
import { redirectToConsole, serveConsole, serveSiteFile } from './start/console-files.ts'
import { type MetricsSource, metricsText } from './start/metrics-route.ts'
import { isBusy } from './store/index.ts'
import type { App, Env, SurfaceDeps } from './surfaces/common/surface.ts'
import { dialects, routedPath, surfaces } from './surfaces/index.ts'

interface AppDeps {
  engine: Engine
  limits: Config['limits']
  isAdmin: (secret: string) => boolean
  /** Base of links to the console. */
  consoleUrl?: string
  /** Absent where people sign in with passwords alone. */
  oidc?: OidcProvider
  /** Has all processes of the gateway read its file again. */
  reload?: () => Promise<ReloadOutcome>
  /** JSON Schema of gateway.yaml. */
  configSchema: () => Promise<string>
  /** Absent when metrics are served elsewhere, or not at all. */
  metrics?: MetricsSource
  /**
   * What this port serves: everything on the only port, no administration on the callers' port, or
   * everything on the administration port.
   */
  listener?: 'only' | 'calls' | 'admin'
}

export type Handle = (request: Request, connection: Connection) => Response | Promise<Response>

interface HotRoute {
  work: (x: RequestContext) => Promise<Response>
  dialect: Dialect
}

// One path for the whole request: the raw path that a proxy has checked, not a decoded form.
const newApp = (): App => new Hono<Env>({ getPath: (_, options) => options!.env!.context.path })

/** Every route but those of the admin API, and those that are looked up before the router. */
export function createRouter(deps: AppDeps) {
  const { engine, limits, configSchema, listener = 'only' } = deps
  const app = newApp()
  const hot = new Map<string, HotRoute>()
  const hotPost: SurfaceDeps['hotPost'] = (path, work) => {
    hot.set(path, { work, dialect: dialects.at(path) })
    app.post(path, ({ env }) => work(env.context))
  }
  const api = createCallerApi(engine)
  for (const surface of surfaces) surface.mount(app, { api, limits, hotPost })
  if (listener !== 'calls') mountAdministration(app, deps)

  app.get('/healthz', ({ env }) => answerJson(env.context, '{"status":"ok"}'))
  app.get('/readyz', ({ env }) => answerReady(env.context, engine))
  // Built on first use: a start needs none of it.
  for (const [path, apiDocument] of Object.entries(apiDocuments)) {
    if (listener === 'calls' && path.includes('admin')) continue
    app.get(path, async ({ env }) => {
      const { serveDocument } = await import('./openapi/serve.ts')
      return serveDocument(env.context, apiDocument, engine.publicUrl)
    })
  }
  const site = { publicUrl: engine.publicUrl, isForCallersOnly: listener === 'calls' }
  app.get('/docs/assets/:name', ({ env }) => serveSiteFile(env.context))
  for (const path of ['/docs', '/docs/*']) {
    app.get(path, async ({ env }) => {
      const { serveSite } = await import('./guide/serve.ts')
      return serveSite(env.context, site)
    })
  }
  app.get('/config.schema.json', async ({ env }) => answerJson(env.context, await configSchema()))
  app.get('/gateway/v1/keys', ({ env }) => answerJson(env.context, publicKeys(engine)))
  mountNames(app, listener)

  return { app, hot }
}

/** Terminal tools probe these without a token to see whether a server answers. */
function mountNames(app: App, listener: AppDeps['listener']): void {
  app.get('/api/hello', ({ env }) => answerName(env.context))
  app.get('/', ({ env: { context } }) =>
    listener !== 'calls' && isBrowser(context)
      ? redirectToConsole(context, 302)
      : answerName(context),
  )
}

const answerName = (x: RequestContext): Response => {
  const answer = answerJson(x, '{"name":"model-gateway"}')
  answer.headers.set('vary', 'accept')
  return answer
}

/** A person who opens a page; programs ask for anything, or for JSON. */
const isBrowser = ({ request }: RequestContext): boolean =>
  request.headers.get('accept')?.includes('text/html') === true

/** Routes that are not for callers. */
function mountAdministration(app: App, deps: AppDeps) {
  const { isAdmin, metrics, listener } = deps
  app.get('/console', ({ env }) => redirectToConsole(env.context))
  app.get('/console/*', ({ env }) => serveConsole(env.context))
  if (metrics === undefined) return
  app.get('/metrics', ({ env: { context } }) => {
    const mayRead = listener === 'admin' || isLocal(context) || hasAdminToken(context, isAdmin)
    return mayRead ? serveMetrics(context, metrics) : answerRefusal(context, metricsClosed)
  })
}

/** A router of its own for these routes of the admin API. */
export function createAdminRouter(deps: AppDeps, routes: readonly AdminRoute[]): App {
  const app = newApp()
  app.route(adminPath, admin(deps, routes))
  return app
}

const isAdminPath = (path: string): boolean =>
  path.startsWith(adminPath) && (path.length === adminPath.length || path[adminPath.length] === '/')

/** The routers of the admin API, each made with the first request to its part. */
function adminRouters(deps: AppDeps, finish: (app: App) => App) {
  const made = new Map<string, Promise<App>>()
  return (path: string): Promise<App> => {
    const part = partOf(path.slice(adminPath.length))
    const known = made.get(part)
    if (known !== undefined) return known
    const making = loadRoutes(part).then((routes) => finish(createAdminRouter(deps, routes)))
    made.set(part, making)
    // Such as while no more files can be opened: the next request tries again.
    making.catch(() => made.delete(part))
    return making
  }
}

/** What a caller is told of an exception. */
export const bugAnswers =
  (engine: Engine) =>
  (context: RequestContext, error: unknown): Response => {
    const trace_id = context.trace?.traceId
    engine.log.error('unexpected error', { request_id: context.requestId, trace_id, error })
    const refusal =
      engine.store.healthy && !isBusy(error)
        ? refuse('internal_error', 'something went wrong in the gateway')
        : refuse('overloaded', 'the gateway cannot write to its store at the moment')
    return answerRefusal(context, refusal)
  }

export function createApp(deps: AppDeps): Handle {
  const { engine, listener } = deps
  const { app, hot } = createRouter(deps)
  const answerBug = bugAnswers(engine)
  const finish = (router: App): App => {
    router.notFound(({ env }) => answerRefusal(env.context, notRouted(router, env.context)))
    router.onError((error, { env }) => answerBug(env.context, error))
    return router
  }
  finish(app)
  const administers = listener !== 'calls'
  const adminRouterAt = adminRouters(deps, finish)
  // The delay of the event loop is measured from the start on.
  if (administers) healthFactsOf(engine)

  return (request, connection) => {
    const context = newRequestContext(request, connection, engine.clock.nowMs())
    const { method } = request
    const parent = request.headers.get('traceparent')
    if (parent !== null || engine.tracer !== undefined) beginTrace(engine, context, parent)
    const direct = method === 'POST' ? hot.get(context.path) : undefined
    if (direct !== undefined) {
      context.dialect = direct.dialect
      return direct.work(context).catch((error) => answerBug(context, error))
    }
    context.path = routedPath(context.path)
    context.dialect = dialects.at(context.path)
    if (method === 'OPTIONS' && context.dialect.browsers) return answerPreflight(context)
    if (!administers || !isAdminPath(context.path)) return app.fetch(absolute(request), { context })
    return adminRouterAt(context.path).then(
      (router) => router.fetch(absolute(request), { context }),
      (error) => answerBug(context, error),
    )
  }
}

/** The answer to a request that matches no route, in the dialect of its path. */
export const refuseUnrouted = (
  request: Request,
  connection: Connection,
  refusal: Refusal,
): Response => answerRefusal(newRequestContext(request, connection, undefined, dialectAt), refusal)

const dialectAt = (path: string): Dialect => dialects.at(routedPath(path))

/** The API's own documentation, by path. */
const apiDocuments: Readonly<Record<string, ApiDocument>> = {
  '/openapi.json': 'data',
  '/openapi.admin.json': 'admin',
  '/llms.txt': 'llms',
}

/** The router needs an absolute URL, which HTTP/1.0 clients need not send. */
const absolute = (request: Request): Request =>
  request.url.startsWith('/') ? new Request(`http://localhost${request.url}`, request) : request

/** The public keys for checking receipts; open to all. */
function publicKeys({ receiptWriter }: Engine): string {
  const { published, signer } = receiptWriter.keys
  const keys = published.map((key) => ({
    key,
    algorithm: 'Ed25519',
    current: key === signer.key,
    pem: publicPem(key),
  }))
  return JSON.stringify({ keys })
}

const metricsClosed = refuse(
  'invalid_api_key',
  'metrics are for this machine; from elsewhere send the admin token as "Authorization: Bearer <token>"',
)

function hasAdminToken(x: RequestContext, isAdmin: AppDeps['isAdmin']): boolean {
  const secret = credentialOf(x)
  return typeof secret === 'string' && isAdmin(secret)
}

async function serveMetrics(x: RequestContext, metrics: MetricsSource): Promise<Response> {
  const { status, type, body } = await metricsText(metrics, x.request.headers.get('accept'))
  return new Response(body, { status, headers: answerHeaders(x, type) })
}

function answerReady(x: RequestContext, engine: Engine): Response {
  engine.jobs.clockWatch.poll()
  const clock = engine.jobs.clockWatch.refusal && clockProblem(engine.store)
  const ready = !engine.load.draining && engine.store.healthy && clock === undefined
  const trouble = engine.store.healthy ? clock : 'store not writable'
  const status = engine.load.draining ? 'draining' : (trouble ?? 'ready')
  return answerJson(x, JSON.stringify({ status }), ready ? 200 : 503)
}

function notRouted(app: App, { path, request }: RequestContext) {
  const allow = [...new Set(app.routes.filter((route) => takes(route, path)).map((r) => r.method))]
  if (allow.length > 0) {
    const message = `${request.method} is not possible on ${path}`
    return refuse('method_not_allowed', message, { allow: allow.join(', ') })
  }
  return refuse('not_found', `there is nothing at ${path}${hintFor(app, path)}`)
}

/** Middleware is registered for all methods and answers nothing by itself. */
function takes(route: { method: string; path: string }, path: string): boolean {
  if (route.method === 'ALL') return false
  const [wanted, given] = [route.path.split('/'), path.split('/')]
  return (
    wanted.length === given.length &&
    wanted.every((part, i) => part === given[i] || (part.startsWith(':') && given[i] !== ''))
  )
}

/** Most mistakes are in the base URL. */
function hintFor(app: App, path: string): string {
  if (path.includes('//')) return '; the path has a doubled slash'
  if (path.startsWith('/v1/v1/')) return '; the base address ends in /v1 already'
  const meant = `/v1${path}`
  return app.routes.some((route) => takes(route, meant)) ? `; did you mean ${meant}?` : ''
}
