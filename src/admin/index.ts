// The admin API: one file per resource, one guard for all of them. Whoever holds the admin token may
// do everything; people with a session what their role allows.
import { Hono } from 'hono'
import { Refusal, refuse } from '../contract/errors.ts'
import type { Viewer } from '../contract/people.ts'
import { credentialOf } from '../http/credentials.ts'
import type { Exchange } from '../http/exchange.ts'
import { answerRefusal } from '../http/render-error.ts'
import { channelImport } from './catalog/channel-import.ts'
import { channels } from './catalog/channels.ts'
import { models } from './catalog/models.ts'
import { priceLists } from './catalog/price-lists.ts'
import { pricePreview } from './catalog/price-preview.ts'
import { prices } from './catalog/prices.ts'
import { judge } from './legacy-access.ts'
import { accounts } from './money/accounts.ts'
import { audits } from './money/audits.ts'
import { bills } from './money/bills.ts'
import { losses } from './money/losses.ts'
import { statements } from './money/statements.ts'
import { people } from './people/people.ts'
import { cookieOf, isForeignPage, isOwnPage, viewerOf } from './people/sign-in.ts'
import { tokens } from './people/tokens.ts'
import { type AdminApp, type AdminDeps, type AdminEnv, serve } from './route.ts'
import { adminRoutes } from './routes.ts'
import { alerts } from './system/alerts.ts'
import { backup } from './system/backup.ts'
import { exportJobs } from './system/exports.ts'
import { health } from './system/health.ts'
import { settings } from './system/settings.ts'
import { requests } from './traffic/requests.ts'
import { traffic } from './traffic/traffic.ts'
import { usage } from './traffic/usage.ts'

const resources = [
  accounts,
  tokens,
  channels,
  channelImport,
  models,
  prices,
  pricePreview,
  priceLists,
  requests,
  traffic,
  usage,
  bills,
  losses,
  statements,
  audits,
  alerts,
  people,
  health,
  settings,
  backup,
  exportJobs,
]

export const adminPath = '/admin/v1'

/** Anybody may ask these; they check for themselves. */
export const open = ['GET /setup', 'POST /setup', 'POST /session']

export function admin(deps: AdminDeps): AdminApp {
  const app: AdminApp = new Hono<AdminEnv>()
  app.use('*', async (context, next) => {
    const x = context.env.exchange
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
  for (const mount of resources) mount(app, deps)
  for (const route of adminRoutes)
    app.on(route.method.toUpperCase(), route.path, serve(route, deps))
  return app
}

/** For whoever asked: not for a cache, another page, or a browser that makes a page of it. */
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

async function enter(deps: AdminDeps, x: Exchange): Promise<Refusal | undefined> {
  const { method } = x.request
  const path = x.path.startsWith(adminPath) ? x.path.slice(adminPath.length) : x.path
  const byCookie = cookieOf(x) !== undefined && !x.request.headers.has('authorization')
  const isOpen = open.includes(`${method} ${path}`)
  const isChange = method !== 'GET' && method !== 'HEAD'
  if ((byCookie || isOpen) && (isChange ? !mayChange(x, isOpen) : isForeignPage(x))) {
    return refuse('not_permitted', 'this was not sent by a page of this gateway')
  }
  if (isOpen) return undefined
  const viewer = await viewerFor(deps, x)
  if (viewer instanceof Refusal) return viewer
  x.viewer = viewer
  if (isRoute(method, path)) return undefined
  const query = new URL(x.request.url).searchParams
  const verdict = await judge(deps.engine, viewer, { method, path, query })
  if (verdict === 'yes') return undefined
  return verdict === 'unknown'
    ? refuse('not_found', `there is nothing at ${x.path}`)
    : refuse('not_permitted', `a ${viewer.role} may not do this`)
}

const patterns = adminRoutes.map(({ method, path }) => ({
  method: method.toUpperCase(),
  path: new RegExp(`^${path.replace(':id', '[^/]+')}$`),
}))
const isRoute = (method: string, path: string): boolean =>
  patterns.some((each) => each.method === method && each.path.test(path))

/** A browser says where a request comes from; programs that sign in say nothing, and are no danger. */
const mayChange = (x: Exchange, isOpen: boolean): boolean =>
  isOwnPage(x) ||
  (isOpen && !x.request.headers.has('origin') && !x.request.headers.has('sec-fetch-site'))

async function viewerFor({ engine, isAdmin }: AdminDeps, x: Exchange): Promise<Viewer | Refusal> {
  const secret = credentialOf(x)
  if (secret instanceof Refusal) return secret
  if (secret !== undefined) {
    return isAdmin(secret) ? { actor: 'admin', role: 'administrator' } : needed
  }
  const cookie = cookieOf(x)
  const viewer = cookie === undefined ? undefined : await viewerOf(engine, cookie)
  return viewer ?? needed
}

const needed = refuse(
  'invalid_api_key',
  'this needs the admin token as "Authorization: Bearer <token>", or a session of the console',
)
