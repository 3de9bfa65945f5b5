// Tokens: issued here, shown once, changed, given another secret and revoked; and what was spent with
// them lately.
import type { z } from 'zod'
import { tokenSpends } from '../../billing/token-spend.ts'
import { budgetFrom } from '../../contract/budgets/declaration.ts'
import { requirementFrom } from '../../contract/config-schema/channel/data.ts'
import { translationFrom } from '../../contract/config-schema/translation.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Seals } from '../../engine/base-deps.ts'
import { announce } from '../../engine/catalog/refresh.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { newSecret, newShortId } from '../../lib/crypto/ids.ts'
import { type Account, findAccount } from '../../store/catalog/accounts.ts'
import {
  findToken,
  insertToken,
  listTokens,
  lockToken,
  revokeToken,
  type StoredToken,
  tokenNameTaken,
  wasRevoked,
} from '../../store/catalog/tokens.ts'
import { isUniqueConflict, type Tx } from '../../store/index.ts'
import { setBudget } from '../../store/ledger/budgets.ts'
import { lastUses } from '../../store/log/facts.ts'
import { auditChange, listOf, notFound, timeOrNull } from '../answers.ts'
import { budgetOfToken } from '../budgets.ts'
import { forOperatorsAndMembers, owning } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import {
  changeToken,
  defined,
  exceedsTokens,
  isMember,
  setsBudget,
  tagRefusal,
} from './change-token.ts'
import { rotateToken } from './rotate-token.ts'
import { tokenChange, tokenCreation, tokenRotation } from './token-body-schema.ts'
import { boundsOf } from './token-bounds.ts'
import {
  revoked,
  rotatedToken,
  token,
  tokenList,
  tokenQuery,
  tokenWithSecret,
} from './token-schema.ts'
import { fileOwned, prefixLength, settingsOf, spendView, viewAll, viewOne } from './token-view.ts'

async function createToken({ engine, body, viewer, x }: Ask<{ body: typeof tokenCreation }>) {
  const { store } = engine
  const account = await findAccount(store.read, body.account)
  const own = viewer?.accountId
  if (account === undefined || (own !== undefined && own !== account.id)) {
    return refuse('not_found', `there is no account '${body.account}'`, { param: 'account' })
  }
  const unfit =
    tagRefusal(body.tags, account.tagNames) ?? unfitSecret(x, body) ?? setsBudget(x, body)
  if (unfit !== undefined) return unfit
  const secret = secretFor(engine, body)
  try {
    const made = await store.tx((tx) => insertNew(tx, x, { account, body, secret }))
    if (made instanceof Refusal) return made
    await announce(engine, [made.id])
    const { text } = secret
    return { ...(await viewOne(engine, made)), ...(text !== undefined && { token: text }) }
  } catch (error) {
    if (!isUniqueConflict(error)) throw error
    return (await tokenNameTaken(store.read, account.id, body.name))
      ? nameTaken(account.name, body.name)
      : refuse('conflict', 'this secret is in use already', { param: 'token' })
  }
}

type Creation = z.output<typeof tokenCreation>

interface NewToken {
  account: Account
  body: Creation
  secret: Secret
}

/** Without its text where only a digest of it is known. */
interface Secret extends Pick<StoredToken, 'hash' | 'prefix'> {
  text?: string
}

function secretFor({ seal }: Seals, { token, token_sha256, prefix = 'sk-' }: Creation): Secret {
  if (token_sha256 !== undefined) return { hash: seal.hashOfDigest(token_sha256), prefix }
  const text = token ?? newSecret('sk-')
  return { hash: seal.hash(text), prefix: text.slice(0, prefixLength), text }
}

async function insertNew(tx: Tx, x: RequestContext, { account, body, secret }: NewToken) {
  const full = await exceedsTokens(tx, x, account.id)
  if (full !== undefined) return full
  // A key that was revoked here does not come back with a second import.
  if (body.token_sha256 !== undefined && (await wasRevoked(tx, secret.hash))) {
    return refuse('conflict', 'this secret was revoked', { param: 'token_sha256' })
  }
  const id = newShortId('tok', x.atMs)
  const policy = requirementFrom(body.require)
  const settings = {
    models: body.models ?? ['*'],
    limits: defined(body.limits ?? {}),
    allowedIps: body.allowed_ips ?? [],
    ...translationFrom({ translation: body.translation }),
    ...(body.tags !== undefined && { tags: body.tags }),
    ...(body.fallback === 'never' && { fallback: body.fallback }),
    ...(policy !== undefined && { require: policy }),
    ...(body.expires_at !== undefined && { expiresAtMs: Date.parse(body.expires_at) }),
    disabled: body.disabled ?? false,
  }
  await insertToken(tx, {
    id,
    accountId: account.id,
    name: body.name,
    hash: secret.hash,
    prefix: secret.prefix,
    ...settings,
    source: 'api',
    createdAtMs: x.atMs,
    staffBounds: isMember(x) ? {} : boundsOf(settings),
  })
  const made = (await findToken(tx, id))!
  if (body.budget != null) {
    await setBudget(tx, budgetOfToken(made), budgetFrom(body.budget), { source: 'api' })
  }
  const after = await settingsOf(tx, made)
  await auditChange(tx, x, { action: 'token.create', subject: id, after })
  return made
}

async function listAll({ engine, query, account, page, x }: Ask<{ query: typeof tokenQuery }>) {
  const { read } = engine.store
  const found = await listTokens(read, { ...page, accountId: account?.id })
  const shown = { ...found, items: await viewAll(engine, found.items) }
  if (query.spend !== 'true') return listOf(shown, (each) => each)
  const spends = await tokenSpends(read, x.atMs, account?.id)
  const uses = await lastUses(
    read,
    shown.items.map(({ id }) => id),
  )
  return listOf(shown, (each) => ({
    ...each,
    ...spendView(spends.get(each.id)),
    last_used_at: timeOrNull(uses.get(each.id) ?? spends.get(each.id)?.lastMs),
  }))
}

async function update({
  engine,
  id,
  found,
  body,
  x,
}: Ask<{ body: typeof tokenChange; found: StoredToken }>) {
  try {
    const changed = await engine.store.tx((tx) => changeToken(tx, x, id, body))
    await announce(engine, [id])
    return changed instanceof Refusal ? changed : await viewOne(engine, changed)
  } catch (error) {
    if (!isUniqueConflict(error)) throw error
    return nameTaken(found.accountName, body.name ?? found.name)
  }
}

async function rotate({ engine, id, body, x }: Ask<{ body: typeof tokenRotation }>) {
  const untilMs =
    body.previous_valid_until === undefined ? x.atMs : Date.parse(body.previous_valid_until)
  const rotated = await rotateToken(engine, x, id, untilMs)
  if (rotated instanceof Refusal) return rotated
  await announce(engine, rotated.previous === null ? [id] : [id, rotated.previous.id])
  return rotated
}

async function revoke({ engine, id, x }: Ask) {
  const refusal = await engine.store.tx(async (tx) => {
    const found = await lockToken(tx, id)
    if (found === undefined) return notFound('token', id)
    if (found.source === 'file') return fileOwned(found.name)
    const before = await settingsOf(tx, found)
    await revokeToken(tx, id, x.atMs)
    await auditChange(tx, x, { action: 'token.revoke', subject: id, before })
    return undefined
  })
  if (refusal !== undefined) return refusal
  await announce(engine, [id])
  return { id, revoked: true as const }
}

/** Fewer than these in a secret that a person has chosen are soon guessed. */
const minDistinct = 8

/** Members get a random secret; staff may bring one, but not one that is easily guessed. */
function unfitSecret(
  x: RequestContext,
  { token: secret, token_sha256: digest }: Creation,
): Refusal | undefined {
  if (secret === undefined && digest === undefined) return undefined
  const param = secret === undefined ? 'token_sha256' : 'token'
  if (isMember(x)) {
    return refuse('not_permitted', 'the gateway makes the secrets of tokens', { param })
  }
  if (secret === undefined) return undefined
  if (new Set(secret.slice('sk-'.length)).size >= minDistinct) return undefined
  const message = `token must have at least ${minDistinct} different characters after 'sk-'`
  return refuse('invalid_request', message, { param })
}

const nameTaken = (account: string, name: string): Refusal =>
  refuse('conflict', `account '${account}' has a token '${name}' already`, { param: 'name' })

const route = routesOf({
  tag: 'Tokens',
  thing: 'token',
  permission: owning(forOperatorsAndMembers, 'token'),
  find: ({ store }, id) => findToken(store.read, id),
})

export const tokenRoutes = [
  route('POST /tokens', {
    id: 'createToken',
    permission: forOperatorsAndMembers,
    summary: 'Issue a token',
    body: tokenCreation,
    examples: {
      plain: { account: 'acme', name: 'example-token' },
      narrow: {
        account: 'acme',
        name: 'example-narrow',
        models: ['txta-*'],
        limits: { rpm: 600 },
        allowed_ips: ['127.0.0.0/8'],
        translation: 'strict',
        expires_at: '2099-01-01T00:00:00Z',
      },
      budget: {
        account: 'acme',
        name: 'example-budget',
        budget: { amount: '50.00', per: 'month', zone: 'Asia/Shanghai' },
      },
      brought: {
        account: 'acme',
        name: 'example-brought',
        token_sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        prefix: 'sk-...a1b2',
      },
    },
    answer: tokenWithSecret,
    status: 201,
    returns: 'The token, with its secret; without, if only the SHA-256 of that was given.',
    refusals: ['conflict', 'not_found'],
    handle: createToken,
  }),
  route('GET /tokens', {
    id: 'listTokens',
    permission: forOperatorsAndMembers,
    summary: 'List tokens, without secrets',
    query: tokenQuery,
    answer: tokenList,
    handle: listAll,
  }),
  route('GET /tokens/:id', {
    id: 'getToken',
    summary: 'Get a token',
    answer: token,
    handle: ({ engine, found }) => viewOne(engine, found),
  }),
  route('PATCH /tokens/:id', {
    id: 'changeToken',
    summary: 'Change a token',
    description:
      'Limits are merged; null takes one away. A budget is replaced; null takes it away.',
    body: tokenChange,
    examples: {
      limits: { limits: { rpm: 60, tpm: null } },
      disabled: { disabled: true },
      budget: { budget: { amount: '5.00', per: 'day' } },
    },
    answer: token,
    refusals: ['conflict'],
    handle: update,
  }),
  route('POST /tokens/:id/rotate', {
    id: 'rotateToken',
    summary: 'Give a token another secret',
    body: tokenRotation,
    examples: { atOnce: {} },
    answer: rotatedToken,
    returns: 'The token with its new secret, and what became of the old.',
    refusals: ['conflict'],
    handle: rotate,
  }),
  route('DELETE /tokens/:id', {
    id: 'revokeToken',
    summary: 'Revoke a token, for good',
    answer: revoked,
    returns: 'It is revoked.',
    refusals: ['conflict'],
    handle: revoke,
  }),
]
