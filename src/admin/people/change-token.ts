// A change of a token: merged with what it says, held against what staff has set, and recorded.
import type { z } from 'zod'
import { budgetFrom } from '../../contract/budgets/declaration.ts'
import { usualTokenLimit } from '../../contract/config-schema/account-settings.ts'
import { requirementFrom } from '../../contract/config-schema/channel/data.ts'
import { undeclaredTag } from '../../contract/config-schema/tags.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import {
  countIssued,
  findToken,
  lockToken,
  type StoredToken,
  type TokenChange,
  updateToken,
} from '../../store/catalog/tokens.ts'
import type { Tx } from '../../store/index.ts'
import { setBudget } from '../../store/ledger/budgets.ts'
import { auditChange, notFound } from '../answers.ts'
import { budgetOfToken } from '../budgets.ts'
import type { tokenChange } from './token-body-schema.ts'
import { boundsBefore, widens, withChange } from './token-bounds.ts'
import { fileOwned, settingsOf } from './token-view.ts'

/** What the token is changed into depends on what it is: so it is locked meanwhile. */
export async function changeToken(
  tx: Tx,
  x: RequestContext,
  id: string,
  body: z.infer<typeof tokenChange>,
): Promise<StoredToken | Refusal> {
  const before = await lockToken(tx, id)
  if (before === undefined) return notFound('token', id)
  if (before.source === 'file') return fileOwned(before.name)
  const untaken = tagRefusal(body.tags, before.tagNames)
  if (untaken !== undefined) return untaken
  const change = changeFrom(body, before)
  const bounds = boundsBefore(before)
  const refusal = isMember(x) ? (widens(bounds, change) ?? setsBudget(x, body)) : undefined
  if (refusal !== undefined) return refusal
  const staffBounds = isMember(x) ? bounds : withChange(bounds, change)
  const note = { action: 'token.update', subject: id, before: await settingsOf(tx, before) }
  await updateToken(tx, id, { ...change, staffBounds })
  if (body.budget !== undefined) {
    const budget = body.budget === null ? null : budgetFrom(body.budget)
    await setBudget(tx, budgetOfToken(before), budget, { source: 'api' })
  }
  const after = (await findToken(tx, id))!
  await auditChange(tx, x, { ...note, after: await settingsOf(tx, after) })
  return after
}

/** Its account must declare the names of its default tags. */
export function tagRefusal(
  tags: z.infer<typeof tokenChange>['tags'],
  names: readonly string[] | undefined,
): Refusal | undefined {
  const problem = undeclaredTag(tags, names)
  return problem === undefined ? undefined : refuse('invalid_request', problem, { param: 'tags' })
}

/** A token that was revoked counts for a day: otherwise rows could be made without end. */
const countedMs = 86_400_000

/** A member makes no more tokens than the account allows. */
export async function exceedsTokens(tx: Tx, x: RequestContext, accountId: string) {
  if (!isMember(x)) return undefined
  const { tokenLimit = usualTokenLimit } = (await findAccount(tx, accountId))!
  if ((await countIssued(tx, accountId, x.atMs - countedMs)) < tokenLimit) return undefined
  const message =
    `members of this account may have ${tokenLimit} tokens; revoke some (a token counts for a day ` +
    "at least), or ask an operator to raise the account's token_limit"
  return refuse('conflict', message)
}

/** A budget binds members, so they do not set it. */
export const setsBudget = (x: RequestContext, { budget }: { budget?: unknown }) =>
  isMember(x) && budget !== undefined
    ? refuse('not_permitted', 'budgets are set by operators', { param: 'budget' })
    : undefined

export const isMember = ({ viewer }: RequestContext): boolean => viewer?.role === 'member'

/** Limits are merged; null takes one away. */
function changeFrom(body: z.infer<typeof tokenChange>, before: StoredToken): TokenChange {
  const { name, models, limits, allowed_ips, translation, tags, expires_at, disabled } = body
  const { fallback, require: policy } = body
  return {
    ...(name !== undefined && { name }),
    ...(models !== undefined && { models }),
    ...(limits !== undefined && { limits: defined({ ...before.limits, ...limits }) }),
    ...(allowed_ips !== undefined && { allowedIps: allowed_ips }),
    ...(translation !== undefined && { translation: translation === 'on' ? null : translation }),
    ...(tags !== undefined && { tags }),
    ...(fallback !== undefined && { fallback: fallback === 'never' ? fallback : null }),
    ...(policy !== undefined && { require: requirementFrom(policy) ?? null }),
    ...(expires_at !== undefined && {
      expiresAtMs: expires_at === null ? null : Date.parse(expires_at),
    }),
    ...(disabled !== undefined && { disabled }),
  }
}

export const defined = (limits: Readonly<Record<string, number | null | undefined>>) =>
  Object.fromEntries(
    Object.entries(limits).filter((pair): pair is [string, number] => pair[1] != null),
  )
