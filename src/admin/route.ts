// One call of the admin API as one value: method, path, permission, schemas of what goes in and out,
// what documents tell of it, and the handler. The router, the permission matrix and the OpenAPI
// document are made from the list of these values. Routes about one kind of thing share what they have
// in common.
import type { Hono } from 'hono'
import { z } from 'zod'
import type { Refusal, RefusalCode } from '../contract/errors.ts'
import type { Viewer } from '../contract/people.ts'
import type { ReloadOutcome } from '../contract/reload.ts'
import type { Engine } from '../engine/engine.ts'
import type { BodyLimits } from '../http/body/read-json.ts'
import type { HeaderName, Operation } from '../http/operation.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { Schema } from '../http/schema.ts'
import type { Account } from '../store/catalog/accounts.ts'
import type { PageQuery } from '../store/index.ts'
import { downloadFields, downloadFiles, rowSchemaOf } from './download.ts'
import type { OidcProvider } from './oidc/provider.ts'
import type { Permission } from './permission.ts'
import { deleted } from './schema.ts'

export interface AdminDeps {
  engine: Engine
  limits: BodyLimits & { listPage: number }
  isAdmin: (secret: string) => boolean
  /** Base of links to the console; absent: the public address. */
  consoleUrl?: string
  /** Absent where people sign in with passwords alone. */
  oidc?: OidcProvider
  /** Has all processes of the gateway read its file again; absent without such a process. */
  reload?: () => Promise<ReloadOutcome>
}

export interface AdminEnv {
  Bindings: { context: RequestContext }
}
export type AdminApp = Hono<AdminEnv>

export interface Input {
  query?: z.ZodType
  body?: z.ZodType
  found?: unknown
}
type Checked<T> = T extends z.ZodType ? z.output<T> : undefined

/** What a handler is given. For a member, `account` is always their own. */
export interface Ask<I extends Input = object> {
  /** The name in the path. */
  id: string
  /** What it names. */
  found: I['found']
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
  summary: string
  description?: string
  /** Of the id in the path, where it is not that of the other routes. */
  param?: string
  examples?: Readonly<Record<string, unknown>>
  /** What the answer is; the thing, a page of them, or that it is gone, unless told. */
  returns?: string
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
  query?: Q
  /** Items of a page unless asked for. */
  defaultLimit?: number
  body?: B
  /** A request without a body counts as an empty one. */
  optionalBody?: true
  maxBodyBytes?: number
  answer?: A
  status?: 200 | 201 | 202 | 302
}

interface Shared<T> {
  tag: string
  /** 'token': as refusals and documents call what the routes are about. */
  thing: string
  permission: Permission
  /** Of the id in the path. */
  param?: string
  /** What the id in the path names. A route is not asked about what is not there. */
  find?(engine: Engine, id: string): Promise<T | undefined> | T | undefined
}

export interface AdminRoute extends Spec<z.ZodObject, z.ZodType, z.ZodType>, Shared<unknown> {
  returns: string
  method: Operation['method']
  /** Below /admin/v1, as the router has it. */
  path: string
  handle(ask: Ask): Promise<object> | object
}

/** `GET /tokens/:id` and what belongs to it, besides what all routes about tokens share. */
export const routesOf =
  <T = undefined>(shared: Shared<T>) =>
  <
    C extends string,
    Q extends z.ZodObject | undefined = undefined,
    B extends z.ZodType | undefined = undefined,
    A extends z.ZodType | undefined = undefined,
  >(
    call: C,
    route: Spec<Q, B, A> & { permission?: Permission } & {
      handle(
        ask: Ask<{
          query: NonNullable<Q>
          body: NonNullable<B>
          found: C extends `${string}/:id${string}` ? T : undefined
        }>,
      ): Promise<Result<A>> | Result<A>
    },
  ): AdminRoute => {
    const [method = '', path = ''] = call.split(' ')
    const { thing, param = `Id of ${/^[aeiou]/.test(thing) ? 'an' : 'a'} ${thing}.` } = shared
    const returns = usualAnswer(thing, path, route.answer)
    const whole = { returns, ...shared, param, method: method.toLowerCase(), path, ...route }
    return withDownload(whole as unknown as AdminRoute)
  }

function usualAnswer(thing: string, path: string, answer: z.ZodType | undefined): string {
  if (answer === deleted) return 'It is gone.'
  return rowSchemaOf(answer) === undefined
    ? `The ${thing}.`
    : `A page of ${path.split('/').at(-1)}.`
}

/** Every list can also be had as a file. */
function withDownload(route: AdminRoute): AdminRoute {
  const { query = z.object({}) } = route
  if (rowSchemaOf(route.answer) === undefined) return route
  return {
    ...route,
    query: query.extend(downloadFields),
    files: downloadFiles,
    headers: ['content-disposition'],
  }
}
