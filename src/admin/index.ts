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
import type { AdminApp, AdminDeps, AdminEnv } from './route.ts'
import { adminRoutes } from './routes.ts'
import { serve, signInNeeded } from './serve.ts'
import { healthFactsOf } from './system/health-facts.ts'

export const adminPath = '/admin/v1'

const callsWith = (mark: 'open' | 'crossSite'): ReadonlySet<string> =>
  new Set(
    adminRoutes.flatMap(({ permission, method, path }) =>
      permission[mark] === true ? [`${method.toUpperCase()} ${path}`] : [],
    ),
  )
const open = callsWith('open')
const crossSite = callsWith('crossSite')

export function admin(deps: AdminDeps): AdminApp {
  const app: AdminApp = new Hono<AdminEnv>()
  // The delay of the event loop is measured from the start on.
  healthFactsOf(deps.engine)
  app.use('*', async (context, next) => {
    const x = context.env.context
    const refusal = await enter(deps, x)
    if (refusal !== undefined) return keepPrivate(answerRefusal(x, refusal))
    try {
      await next()
    } finally {
      x.releaseBody?.()
    }
    keepPrivate(context.res)
    return undefined
  })
  for (const route of adminRoutes) {
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

async function enter(deps: AdminDeps, x: RequestContext): Promise<Refusal | undefined> {
  const { method } = x.request
  const path = x.path.startsWith(adminPath) ? x.path.slice(adminPath.length) : x.path
  const byCookie = cookieOf(x) !== undefined && !x.request.headers.has('authorization')
  const call = `${method} ${path}`
  if (crossSite.has(call)) return undefined
  const isOpen = open.has(call)
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
