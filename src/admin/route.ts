// One call of the admin API as one value: method, path, permission, schemas of what goes in and out,
// what documents tell of it, and the handler. The router, the permission matrix and the OpenAPI
// document are made from the list of these values.
import type { Context, Hono } from 'hono'
import type { z } from 'zod'
import { checkDeclaration, settingName } from '../contract/config-schema/index.ts'
import { Refusal, type RefusalCode, refuse } from '../contract/errors.ts'
import type { Viewer } from '../contract/people.ts'
import type { Engine } from '../engine/engine.ts'
import { type BodyLimits, readJsonObject } from '../http/body/read-json.ts'
import type { HeaderName, Operation } from '../http/operation.ts'
import { answer } from '../http/render-error.ts'
import { answerJson, type RequestContext } from '../http/request-context.ts'
import type { Schema } from '../http/schema.ts'
import { type Account, findAccount } from '../store/catalog/accounts.ts'
import { BadCursor, type PageQuery } from '../store/index.ts'
import { notFound } from './answers.ts'
import { memberView } from './member-view.ts'
import { judge, type Permission } from './permission.ts'

export interface AdminDeps {
  engine: Engine
  limits: BodyLimits & { listPage: number }
  isAdmin: (secret: string) => boolean
}

export interface AdminEnv {
  Bindings: { context: RequestContext }
}
export type AdminApp = Hono<AdminEnv>

interface Input {
  query?: z.ZodType
  body?: z.ZodType
}
type Checked<T> = T extends z.ZodType ? z.output<T> : undefined

/** What a handler is given. For a member, `account` is always their own. */
export interface Ask<I extends Input = object> {
  /** The name in the path. */
  id: string
  query: Checked<I['query']>
  body: Checked<I['body']>
  /** `limit` and `cursor` of a list. */
  page: PageQuery
  /** The account that `account` in the query names. */
  account: Account | undefined
  header(name: string): string | undefined
  x: RequestContext
  viewer: Viewer | undefined
  engine: Engine
  deps: AdminDeps
}

type Frozen<T> = T extends readonly (infer E)[]
  ? readonly Frozen<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T

/** What a schema of an answer describes, as views make it. */
export type View<A> = A extends z.ZodType ? Frozen<z.output<A>> : never

type Result<A> = View<A> | Refusal | Response

interface RequestContent {
  schema: Schema | z.ZodType
  examples?: Readonly<Record<string, unknown>>
}

/** What documents tell of a call besides its schemas. */
interface RouteText {
  /** Of the operation, in camel case. */
  id: string
  tag: string
  summary: string
  description?: string
  /** Of the id in the path. */
  param?: string
  examples?: Readonly<Record<string, unknown>>
  /** What the answer is. */
  returns: string
  /** Besides JSON, or instead of it: by media type. */
  files?: Readonly<Record<string, Schema | z.ZodType>>
  /** A body that is not JSON, or not only. */
  request?: Readonly<Record<string, RequestContent>>
  /** Of the answer. */
  headers?: readonly HeaderName[]
  /** That a request may carry. */
  requestHeaders?: Readonly<Record<string, string>>
  refusals?: readonly RefusalCode[]
}

interface Spec<Q, B, A> extends RouteText {
  method: Operation['method']
  /** Below /admin/v1, as the router has it. */
  path: string
  permission: Permission
  query?: Q
  /** Items of a page unless asked for. */
  defaultLimit?: number
  body?: B
  /** A request without a body counts as an empty one. */
  optionalBody?: true
  maxBodyBytes?: number
  answer?: A
  status?: 200 | 201 | 202
}

export interface AdminRoute extends Spec<z.ZodObject, z.ZodType, z.ZodType> {
  handle(ask: Ask): Promise<object> | object
}

export const adminRoute = <
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  A extends z.ZodType | undefined = undefined,
>(
  route: Spec<Q, B, A> & {
    handle(
      ask: Ask<{ query: NonNullable<Q>; body: NonNullable<B> }>,
    ): Promise<Result<A>> | Result<A>
  },
): AdminRoute => route as unknown as AdminRoute

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
      const result = ask instanceof Refusal ? ask : await route.handle(ask)
      if (result instanceof Refusal || result instanceof Response) return answer(x, result)
      const shown = x.viewer?.role === 'member' ? memberView(result, route.answer) : result
      return answerJson(x, JSON.stringify(shown), route.status)
    } catch (error) {
      if (!(error instanceof BadCursor)) throw error
      return answer(x, wrong('cursor', 'is not one of ours'))
    }
  }

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

export const notPermitted = ({ role }: Viewer): Refusal =>
  refuse('not_permitted', `a ${role} may not do this`)

async function readAsk(
  route: AdminRoute,
  deps: AdminDeps,
  x: RequestContext,
  req: Asked,
): Promise<Ask<Input> | Refusal> {
  const { engine } = deps
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
  const id = req.param('id') ?? ''
  return { id, query, body, page, account, header, x, viewer: x.viewer, engine, deps }
}

/** The fields of a query that a schema names, checked. */
export function checkQuery<Q extends z.ZodObject>(
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

/** Something is wrong with a field of the query. */
export const wrong = (param: string, message: string): Refusal =>
  refuse('invalid_request', `'${param}' ${message}`, { param })
