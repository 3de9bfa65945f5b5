// How a route of the admin API is served: judged, read by its schemas, handled, and answered as JSON or as
// a file.
import type { Context } from 'hono'
import type { z } from 'zod'
import { checkDeclaration, settingName } from '../contract/config-schema/index.ts'
import { Refusal, refuse } from '../contract/errors.ts'
import type { Engine } from '../engine/engine.ts'
import { type BodyLimits, readJsonObject } from '../http/body/read-json.ts'
import { answer } from '../http/render-error.ts'
import { answerJson, type RequestContext } from '../http/request-context.ts'
import { findAccount, listTagNames } from '../store/catalog/accounts.ts'
import { BadCursor, type PageQuery } from '../store/index.ts'
import { notFound, notPermitted, wrong } from './answers.ts'
import { type DownloadFormat, download, hasTags, rowSchemaOf } from './download.ts'
import { memberView } from './member-view.ts'
import { judge } from './permission.ts'
import type { AdminDeps, AdminEnv, AdminRoute, Ask, Input } from './route.ts'

type Asked = Context<AdminEnv>['req']

/** The route as the router calls it: judged, read, handled, and answered as JSON. */
export const serve =
  (route: AdminRoute, deps: AdminDeps) =>
  async ({ env, req }: Context<AdminEnv>): Promise<Response> => {
    const x = env.context
    const refusal = await denied(route, deps.engine, x, req)
    if (refusal !== undefined) return answer(x, refusal)
    try {
      const ask = await readAsk(route, deps, x, req)
      const result = ask instanceof Refusal ? ask : await handled(route, ask)
      if (result instanceof Refusal || result instanceof Response) return answer(x, result)
      return answerJson(x, JSON.stringify(result), route.status)
    } catch (error) {
      if (!(error instanceof BadCursor)) throw error
      return answer(x, wrong('cursor', 'is not one of ours'))
    }
  }

const maxDownloadPage = 200
/** Columns for tags in one file; the column of all tags has the rest. */
const maxTagColumns = 100

/** As the viewer may see it; a list for which a format was asked is a file. */
async function handled(route: AdminRoute, ask: Ask<Input>): Promise<object> {
  const read = async (page: PageQuery): Promise<object> => {
    const result = await route.handle({ ...ask, page } as Ask)
    if (result instanceof Refusal || result instanceof Response) return result
    return ask.viewer?.role === 'member' ? memberView(result, route.answer) : result
  }
  const row = rowSchemaOf(route.answer)
  const { format } = (ask.query ?? {}) as { format?: DownloadFormat }
  if (row === undefined || format === undefined) return read(ask.page)
  const limit = Math.min(maxDownloadPage, ask.deps.limits.listPage)
  const name = route.path.slice(1).replace(':id', ask.id).replaceAll('/', '-')
  const tagNames = hasTags(row) ? await tagNamesOf(ask.engine, ask.account?.id) : []
  return download(ask.x, { name, format, row, tagNames, from: { ...ask.page, limit }, read })
}

/** Of one account, or of all. */
const tagNamesOf = ({ store }: Engine, accountId: string | undefined) =>
  listTagNames(store.read, accountId, maxTagColumns)

async function denied(
  { permission, method }: AdminRoute,
  engine: Engine,
  x: RequestContext,
  req: Asked,
): Promise<Refusal | undefined> {
  if (permission.open === true) return undefined
  const { viewer } = x
  if (viewer === undefined) return signInNeeded
  const query = new URL(x.request.url).searchParams
  // A router answers HEAD by the route of GET; only the administrator may ask that way.
  const isOther = x.request.method !== method.toUpperCase() && viewer.role !== 'administrator'
  const verdict = isOther
    ? 'no'
    : await judge(engine, viewer, permission, { id: req.param('id') ?? '', query })
  if (verdict === 'yes') return undefined
  return verdict === 'unknown'
    ? refuse('not_found', `there is nothing at ${x.path}`)
    : notPermitted(viewer)
}

export const signInNeeded = refuse(
  'invalid_api_key',
  'this needs the admin token as "Authorization: Bearer <token>", or a session of the console',
)

async function readAsk(
  route: AdminRoute,
  deps: AdminDeps,
  x: RequestContext,
  req: Asked,
): Promise<Ask<Input> | Refusal> {
  const { engine } = deps
  const misnamed = route.permission.crossSite === true ? undefined : unknownParam(route, x)
  if (misnamed !== undefined) return misnamed
  const id = req.param('id') ?? ''
  const { find } = route
  const found = id === '' ? undefined : await find?.(engine, id)
  if (id !== '' && find !== undefined && found === undefined) return notFound(route.thing, id)
  const own = x.viewer?.accountId
  const read = (name: string) => (name === 'account' && own !== undefined ? own : req.query(name))
  const query = route.query === undefined ? undefined : checkQuery(route.query, read)
  if (query instanceof Refusal) return query
  const page =
    'limit' in (route.query?.shape ?? {})
      ? pageQuery(read, deps.limits, route.defaultLimit)
      : firstPage
  if (page instanceof Refusal) return page
  const named = route.query?.shape['account'] === undefined ? undefined : read('account')
  const account = named === undefined ? undefined : await findAccount(engine.store.read, named)
  if (named !== undefined && account === undefined) return notFound('account', named)
  const body = await readRouteBody(route, deps, x)
  if (body instanceof Refusal) return body
  const header = (name: string) => req.header(name)
  return { id, found, query, body, page, account, header, x, viewer: x.viewer, engine, deps }
}

const maxShownName = 64
/** Every list takes them; a short one has one page. */
const ofPages = ['limit', 'cursor']

/** Ignored, a filter that there is not would show everything. */
function unknownParam({ query, answer }: AdminRoute, x: RequestContext): Refusal | undefined {
  const known = Object.keys(query?.shape ?? {})
  const isList = rowSchemaOf(answer) !== undefined
  const { searchParams } = new URL(x.request.url)
  const name = searchParams
    .keys()
    .find((each) => !known.includes(each) && !(isList && ofPages.includes(each)))
  if (name === undefined) return undefined
  const shown = name.slice(0, maxShownName)
  const rest = known.length === 0 ? 'no parameters' : known.map((each) => `'${each}'`).join(', ')
  return wrong(shown, `is not a parameter of this call's query, which has ${rest}`)
}

/** The fields of a query that a schema names, checked. */
function checkQuery<Q extends z.ZodObject>(
  query: Q,
  read: (name: string) => string | undefined,
): z.output<Q> | Refusal {
  const given = Object.keys(query.shape).flatMap((name) => {
    const value = read(name)
    return value === undefined ? [] : [[name, value]]
  })
  const checked = checkDeclaration(query, Object.fromEntries(given))
  if ('value' in checked) return checked.value as z.output<Q>
  const { path, message } = checked.problems[0]!
  return wrong(settingName(path), message)
}

const maxAdminBytes = 1024 * 1024
/** Of those who have not signed in: a name and a password fit. */
const maxOpenBytes = 4 * 1024
/** Lists of prices and channels as text. */
export const maxImportBytes = 4 * 1024 * 1024

async function readRouteBody(route: AdminRoute, { limits }: AdminDeps, x: RequestContext) {
  const { body: schema, maxBodyBytes } = route
  if (schema === undefined || route.request !== undefined) return undefined
  if (route.optionalBody === true && !hasBody(x.request)) return {}
  return readBody(x, limits, schema, maxBodyBytes)
}

export async function readBody<T>(
  x: RequestContext,
  limits: BodyLimits,
  schema: z.ZodType<T>,
  maxBytes = x.viewer === undefined ? maxOpenBytes : maxAdminBytes,
): Promise<T | Refusal> {
  const bodyBytes = Math.min(limits.bodyBytes, maxBytes)
  const body = await readJsonObject(x, { ...limits, bodyBytes })
  if (body instanceof Refusal) return body
  const checked = checkDeclaration(schema, body.fields)
  if ('value' in checked) return checked.value
  const { path, message } = checked.problems[0]!
  const setting = settingName(path)
  return refuse('invalid_request', `${setting || 'the body'} ${message}`, { param: setting })
}

const hasBody = (request: Request): boolean =>
  request.headers.get('content-length') !== '0' && request.body !== null

const defaultPage = 100
const firstPage: PageQuery = { limit: defaultPage }

function pageQuery(
  read: (name: string) => string | undefined,
  { listPage }: { listPage: number },
  usual = defaultPage,
): PageQuery | Refusal {
  const text = read('limit')
  const limit = text === undefined ? usual : Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= listPage) {
    return { limit, cursor: read('cursor') }
  }
  return wrong('limit', `must be a whole number from 1 to ${listPage}`)
}
