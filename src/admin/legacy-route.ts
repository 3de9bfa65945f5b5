// What all admin resources share: who may enter, how bodies and lists are read, how values look.
import type { Context, Hono } from 'hono'
import type { z } from 'zod'
import { checkDeclaration, settingName } from '../contract/config-schema/index.ts'
import { Refusal, refuse } from '../contract/errors.ts'
import type { Engine } from '../engine/engine.ts'
import { type BodyLimits, readJsonObject } from '../http/body/read-json.ts'
import { answerJson, type Exchange } from '../http/exchange.ts'
import { answer } from '../http/render-error.ts'
import { appendAudit } from '../store/catalog/audit-log.ts'
import { BadCursor, type Page, type PageQuery, type Tx } from '../store/index.ts'
import { pageOf, textCursor } from '../store/sql/cursor.ts'
import { memberView } from './member-view.ts'

export interface AdminDeps {
  engine: Engine
  limits: BodyLimits & { listPage: number }
  isAdmin: (secret: string) => boolean
}

export interface AdminEnv {
  Bindings: { exchange: Exchange }
}
export type AdminApp = Hono<AdminEnv>

export type Resource = (app: AdminApp, deps: AdminDeps) => void

/** What a route looks at besides the body; for a member, `account` is always their own. */
interface Ask {
  /** The last name in the path. */
  id: string
  query: (name: string) => string | undefined
  header: (name: string) => string | undefined
}

type Result = object | Refusal
type Work = (ask: Ask, x: Exchange) => Promise<Result> | Result

/** Turns a function from question to value into a route; the value becomes the JSON body. */
export function route(work: Work, status = 200) {
  return async ({ env, req }: Context<AdminEnv>): Promise<Response> => {
    const x = env.exchange
    const own = x.viewer?.accountId
    const query = (name: string) =>
      name === 'account' && own !== undefined ? own : req.query(name)
    const header = (name: string) => req.header(name)
    try {
      const result = await work({ id: req.param('id') ?? '', query, header }, x)
      if (result instanceof Refusal || result instanceof Response) return answer(x, result)
      const shown = x.viewer?.role === 'member' ? memberView(result) : result
      return answerJson(x, JSON.stringify(shown), status)
    } catch (error) {
      if (!(error instanceof BadCursor)) throw error
      return answer(
        x,
        refuse('invalid_request', "'cursor' is not one of ours", { param: 'cursor' }),
      )
    }
  }
}

const maxAdminBytes = 1024 * 1024
/** Of those who have not said who they are: a name and a password fit. */
const maxOpenBytes = 4 * 1024
/** Lists of prices and channels as text. */
export const maxImportBytes = 4 * 1024 * 1024

export async function readBody<T>(
  x: Exchange,
  { limits }: AdminDeps,
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

const defaultPage = 100

export function pageQuery(
  read: (name: string) => string | undefined,
  { limits }: AdminDeps,
): PageQuery | Refusal {
  const text = read('limit')
  const limit = text === undefined ? defaultPage : Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > limits.listPage) {
    return refuse(
      'invalid_request',
      `'limit' must be a whole number from 1 to ${limits.listPage}`,
      {
        param: 'limit',
      },
    )
  }
  return { limit, cursor: read('cursor') }
}

export const listOf = <T>(page: Page<T>, view: (item: T) => object) => ({
  items: page.items.map(view),
  next_cursor: page.nextCursor ?? null,
})

/** A page of what is in memory, in order of a key that no two items share. */
export function pageOfList<T>(
  items: Iterable<T>,
  keyOf: (item: T) => string,
  { limit, cursor }: PageQuery,
): Page<T> {
  const after = cursor === undefined ? '' : textCursor(cursor)
  const rest = [...items]
    .filter((item) => keyOf(item) > after)
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  return pageOf(rest, limit, keyOf, (item) => item)
}

/** `from` and `to` of a list. */
export function spanQuery(
  read: (name: string) => string | undefined,
): { fromMs?: number; toMs?: number } | Refusal {
  const span: { fromMs?: number; toMs?: number } = {}
  for (const [name, field] of [
    ['from', 'fromMs'],
    ['to', 'toMs'],
  ] as const) {
    const text = read(name)
    if (text === undefined) continue
    const ms = Date.parse(text)
    if (Number.isNaN(ms)) {
      return refuse('invalid_request', `'${name}' must be an RFC 3339 time`, { param: name })
    }
    span[field] = ms
  }
  return span
}

export const time = (ms: number): string => new Date(ms).toISOString()

export const notFound = (what: string, id: string): Refusal =>
  refuse('not_found', `there is no ${what} '${id}'`)

/** Who changed what; goes into the transaction of the change. No secret may be in either picture. */
export async function recordChange(
  tx: Tx,
  { atMs, viewer, requestId, connection }: Exchange,
  change: { action: string; subject: string; before?: object; after?: object },
): Promise<void> {
  const { before, after, ...rest } = change
  const address = connection.ip()
  await appendAudit(tx, {
    atMs,
    actor: viewer?.actor ?? 'gateway',
    requestId,
    ...(address !== undefined && { address }),
    ...rest,
    ...(before !== undefined && { before: JSON.stringify(before) }),
    ...(after !== undefined && { after: JSON.stringify(after) }),
  })
}
