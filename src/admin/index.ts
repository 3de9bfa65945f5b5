// The admin API: one guard for all of its routes. The admin token may do everything, people with a
// session what their role allows.
import { Hono, type MiddlewareHandler } from 'hono'
import { Refusal, refuse } from '../contract/errors.ts'
import type { Viewer } from '../contract/people.ts'
import { credentialOf } from '../http/credentials.ts'
import { answerRefusal } from '../http/render-error.ts'
import type { RequestContext } from '../http/request-context.ts'
import { notPermitted } from './answers.ts'
import { cookieOf, isForeignPage, isOwnPage, viewerOf } from './people/sign-in.ts'
import type { AdminApp, AdminDeps, AdminEnv, AdminRoute } from './route.ts'
import { serve, signInNeeded } from './serve.ts'

export const adminPath = '/admin/v1'

/** `POST /session` and the like. */
type Calls = ReadonlySet<string>

const callsWith = (routes: readonly AdminRoute[], mark: 'open' | 'crossSite'): Calls =>
  new Set(
    routes.flatMap(({ permission, method, path }) =>
      permission[mark] === true ? [`${method.toUpperCase()} ${path}`] : [],
    ),
  )

/** Serves these routes, and denies every other call. */
export function admin(deps: AdminDeps, routes: readonly AdminRoute[]): AdminApp {
  const app: AdminApp = new Hono<AdminEnv>()
  const open = callsWith(routes, 'open')
  const crossSite = callsWith(routes, 'crossSite')
  app.use('*', async (context, next) => {
    const x = context.env.context
    const call = callOf(x)
    const refusal = crossSite.has(call) ? undefined : await enter(deps, x, open.has(call))
    if (refusal !== undefined) return keepPrivate(answerRefusal(x, refusal))
    try {
      await next()
    } finally {
      x.releaseBody?.()
    }
    keepPrivate(context.res)
    return undefined
  })
  for (const route of routes) {
    app.on(route.method.toUpperCase(), route.path, serve(route, deps))
  }
  app.all('*', denyUnknown)
  return app
}

/** For the caller alone: not for a cache, another page, or a browser that makes a page of it. */
const privacy: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** What an answer says for itself stays. */
function keepPrivate(answer: Response): Response {
  for (const [name, value] of Object.entries(privacy)) {
    if (!answer.headers.has(name)) answer.headers.set(name, value)
  }
  return answer
}

const callOf = ({ request, path }: RequestContext): string =>
  `${request.method} ${path.startsWith(adminPath) ? path.slice(adminPath.length) : path}`

async function enter(
  deps: AdminDeps,
  x: RequestContext,
  isOpen: boolean,
): Promise<Refusal | undefined> {
  const { method } = x.request
  const byCookie = cookieOf(x) !== undefined && !x.request.headers.has('authorization')
  const isChange = method !== 'GET' && method !== 'HEAD'
  if ((byCookie || isOpen) && (isChange ? !mayChange(x, isOpen) : isForeignPage(x))) {
    return refuse('not_permitted', 'this was not sent by a page of this gateway')
  }
  if (isOpen) return undefined
  const viewer = await viewerFor(deps, x)
  if (viewer instanceof Refusal) return viewer
  x.viewer = viewer
  return undefined
}

/** Deny by default: only the administrator learns that there is no such call. */
const denyUnknown: MiddlewareHandler<AdminEnv> = async ({ env: { context } }, next) => {
  const { viewer } = context
  if (viewer !== undefined && viewer.role !== 'administrator') {
    return answerRefusal(context, notPermitted(viewer))
  }
  await next()
  return undefined
}

/** A browser says where a request comes from; programs that sign in say nothing, and are no danger. */
const mayChange = (x: RequestContext, isOpen: boolean): boolean =>
  isOwnPage(x) ||
  (isOpen && !x.request.headers.has('origin') && !x.request.headers.has('sec-fetch-site'))

async function viewerFor(
  { engine, isAdmin, oidc }: AdminDeps,
  x: RequestContext,
): Promise<Viewer | Refusal> {
  const secret = credentialOf(x)
  if (secret instanceof Refusal) return secret
  if (secret !== undefined) {
    return isAdmin(secret) ? { actor: 'admin', role: 'administrator' } : signInNeeded
  }
  const cookie = cookieOf(x)
  const viewer =
    cookie === undefined ? undefined : await viewerOf(engine, cookie, oidc?.settings.only)
  return viewer ?? signInNeeded
}
