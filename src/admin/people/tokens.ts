// Tokens: issued here, shown once, changed, given another secret and revoked; and what was spent with
// them lately.
import { z } from 'zod'
import { tokenSpends } from '../../billing/token-spend.ts'
import { tokenDeclaration } from '../../contract/config-schema/index.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { announce } from '../../engine/catalog/refresh.ts'
import type { Exchange } from '../../http/exchange.ts'
import { newSecret, newShortId } from '../../lib/crypto/ids.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import {
  findToken,
  insertToken,
  listTokens,
  lockToken,
  revokeToken,
  type StoredToken,
  type TokenChange,
  tokenNameTaken,
  updateToken,
} from '../../store/catalog/tokens.ts'
import { isUniqueConflict, type Tx } from '../../store/index.ts'
import {
  listOf,
  notFound,
  pageQuery,
  type Resource,
  readBody,
  recordChange,
  route,
} from '../legacy-route.ts'
import { rotateToken } from './rotate-token.ts'
import { boundsBefore, boundsOf, widens, withChange } from './token-bounds.ts'
import { fileOwned, prefixLength, spendView, view } from './token-view.ts'

const { name, models, limits, allowed_ips, expires_at } = tokenDeclaration.shape
const limitChange = z
  .strictObject(
    Object.fromEntries(
      (['rpm', 'tpm', 'concurrency'] as const).map((field) => [
        field,
        limits.unwrap().shape[field].unwrap().nullable().optional(),
      ]),
    ),
  )
  .optional()
export const change = z.strictObject({
  name: name.optional(),
  models,
  limits: limitChange,
  allowed_ips,
  expires_at: expires_at.nullable(),
  disabled: z.boolean().optional(),
})

export const rotation = z.strictObject({ old_until: expires_at })

export const tokens: Resource = (app, deps) => {
  const { engine } = deps
  const { store } = engine

  app.post(
    '/tokens',
    route(async (_, x) => {
      const body = await readBody(x, deps, tokenDeclaration)
      if (body instanceof Refusal) return body
      const account = await findAccount(store.read, body.account)
      const own = x.viewer?.accountId
      if (account === undefined || (own !== undefined && own !== account.id)) {
        return refuse('not_found', `there is no account '${body.account}'`, { param: 'account' })
      }
      const weak = unfitSecret(x, body.token)
      if (weak !== undefined) return weak
      const secret = body.token ?? newSecret('sk-')
      const id = newShortId('tok', x.atMs)
      try {
        const settings = {
          models: body.models ?? ['*'],
          limits: defined(body.limits ?? {}),
          allowedIps: body.allowed_ips ?? [],
          ...(body.expires_at !== undefined && { expiresAtMs: Date.parse(body.expires_at) }),
          disabled: false,
        }
        const made = await store.tx(async (tx) => {
          await insertToken(tx, {
            id,
            accountId: account.id,
            name: body.name,
            hash: engine.seal.hash(secret),
            prefix: secret.slice(0, prefixLength),
            ...settings,
            source: 'api',
            createdAtMs: x.atMs,
            staffBounds: isMember(x) ? {} : boundsOf(settings),
          })
          const after = view((await findToken(tx, id))!)
          await recordChange(tx, x, { action: 'token.create', subject: id, after })
          return after
        })
        await announce(engine)
        return { ...made, token: secret }
      } catch (error) {
        if (!isUniqueConflict(error)) throw error
        return (await tokenNameTaken(store.read, account.id, body.name))
          ? nameTaken(account.name, body.name)
          : refuse('conflict', 'this secret is in use already', { param: 'token' })
      }
    }, 201),
  )

  app.get(
    '/tokens',
    route(async ({ query }, x) => {
      const page = pageQuery(query, deps)
      if (page instanceof Refusal) return page
      const wanted = query('account')
      const account = wanted === undefined ? undefined : await findAccount(store.read, wanted)
      if (wanted !== undefined && account === undefined) return notFound('account', wanted)
      const found = await listTokens(store.read, { ...page, accountId: account?.id })
      if (query('spend') !== 'true') return listOf(found, view)
      const spends = await tokenSpends(store.read, x.atMs, account?.id)
      return listOf(found, (token) => ({ ...view(token), ...spendView(spends.get(token.id)) }))
    }),
  )

  app.get(
    '/tokens/:id',
    route(async ({ id }) => {
      const token = await findToken(store.read, id)
      return token === undefined ? notFound('token', id) : view(token)
    }),
  )

  app.patch(
    '/tokens/:id',
    route(async ({ id }, x) => {
      const found = await findToken(store.read, id)
      if (found === undefined) return notFound('token', id)
      const body = await readBody(x, deps, change)
      if (body instanceof Refusal) return body
      try {
        const changed = await store.tx((tx) => changeToken(tx, x, id, body))
        await announce(engine)
        return changed
      } catch (error) {
        if (!isUniqueConflict(error)) throw error
        return nameTaken(found.accountName, body.name ?? found.name)
      }
    }),
  )

  app.post(
    '/tokens/:id/rotate',
    route(async ({ id }, x) => {
      const body = await readBody(x, deps, rotation)
      if (body instanceof Refusal) return body
      const untilMs = body.old_until === undefined ? x.atMs : Date.parse(body.old_until)
      const rotated = await rotateToken(engine, x, id, untilMs)
      if (!(rotated instanceof Refusal)) await announce(engine)
      return rotated
    }),
  )

  app.delete(
    '/tokens/:id',
    route(async ({ id }, x) => {
      const refusal = await store.tx(async (tx) => {
        const token = await lockToken(tx, id)
        if (token === undefined) return notFound('token', id)
        if (token.source === 'file') return fileOwned(token.name)
        await revokeToken(tx, id, x.atMs)
        const before = view(token)
        await recordChange(tx, x, { action: 'token.revoke', subject: id, before })
        return undefined
      })
      if (refusal !== undefined) return refusal
      await announce(engine)
      return { id, revoked: true }
    }),
  )
}

/** What the token is changed into depends on what it is: nobody else may change it meanwhile. */
async function changeToken(
  tx: Tx,
  x: Exchange,
  id: string,
  body: z.infer<typeof change>,
): Promise<object | Refusal> {
  const before = await lockToken(tx, id)
  if (before === undefined) return notFound('token', id)
  if (before.source === 'file') return fileOwned(before.name)
  const change = changeFrom(body, before)
  const bounds = boundsBefore(before)
  const refusal = isMember(x) ? widens(bounds, change) : undefined
  if (refusal !== undefined) return refusal
  const staffBounds = isMember(x) ? bounds : withChange(bounds, change)
  await updateToken(tx, id, { ...change, staffBounds })
  const after = view((await findToken(tx, id))!)
  const note = { action: 'token.update', subject: id, before: view(before), after }
  await recordChange(tx, x, note)
  return after
}

const isMember = ({ viewer }: Exchange): boolean => viewer?.role === 'member'

/** Fewer than these in a secret that somebody has thought up are soon guessed. */
const minDistinct = 8

/** Members get a random secret; staff may bring one, but not one that is easily guessed. */
function unfitSecret(x: Exchange, secret: string | undefined): Refusal | undefined {
  if (secret === undefined) return undefined
  const param = 'token'
  if (isMember(x)) {
    return refuse('not_permitted', 'the gateway makes the secrets of tokens', { param })
  }
  if (new Set(secret.slice('sk-'.length)).size >= minDistinct) return undefined
  const message = `token must have at least ${minDistinct} different characters after 'sk-'`
  return refuse('invalid_request', message, { param })
}

const nameTaken = (account: string, name: string): Refusal =>
  refuse('conflict', `account '${account}' has a token '${name}' already`, { param: 'name' })

/** Limits are merged; null takes one away. */
function changeFrom(body: z.infer<typeof change>, before: StoredToken): TokenChange {
  const { name, models, limits, allowed_ips, expires_at, disabled } = body
  return {
    ...(name !== undefined && { name }),
    ...(models !== undefined && { models }),
    ...(limits !== undefined && { limits: defined({ ...before.limits, ...limits }) }),
    ...(allowed_ips !== undefined && { allowedIps: allowed_ips }),
    ...(expires_at !== undefined && {
      expiresAtMs: expires_at === null ? null : Date.parse(expires_at),
    }),
    ...(disabled !== undefined && { disabled }),
  }
}

const defined = (limits: Readonly<Record<string, number | null | undefined>>) =>
  Object.fromEntries(
    Object.entries(limits).filter((pair): pair is [string, number] => pair[1] != null),
  )
