// Another secret for a token. It keeps its id, its name and its history; the old secret becomes a token
// of its own that expires, so that it can be seen who still uses it.
import { Refusal, refuse } from '../../contract/errors.ts'
import type { BaseDeps, Seals } from '../../engine/base-deps.ts'
import type { Engine } from '../../engine/engine.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { newSecret, newShortId } from '../../lib/crypto/ids.ts'
import {
  findToken,
  insertToken,
  lockToken,
  replaceSecret,
  type StoredToken,
} from '../../store/catalog/tokens.ts'
import type { Tx } from '../../store/index.ts'
import { auditChange, notFound, time } from '../answers.ts'
import type { View } from '../route.ts'
import { exceedsTokens } from './change-token.ts'
import { boundsBefore } from './token-bounds.ts'
import type { rotatedToken } from './token-schema.ts'
import { fileOwned, prefixLength, view, viewOne } from './token-view.ts'

const maxOverlapMs = 90 * 24 * 3_600_000

/** `untilMs`: when the old secret stops working; a moment that has passed means at once. */
export async function rotateToken(
  engine: BaseDeps & Seals & Pick<Engine, 'ledger'>,
  x: RequestContext,
  id: string,
  untilMs: number,
): Promise<View<typeof rotatedToken> | Refusal> {
  if (untilMs > x.atMs + maxOverlapMs) {
    const message = 'an old secret works for 90 days more, at most'
    return refuse('invalid_request', message, { param: 'previous_valid_until' })
  }
  const secret = newSecret('sk-')
  const prefix = secret.slice(0, prefixLength)
  const made = { hash: engine.seal.hash(secret), prefix }
  const rotated = await engine.store.tx((tx) => rotate(tx, x, id, untilMs, made))
  if (rotated instanceof Refusal) return rotated
  const { previous, token } = rotated
  return { ...(await viewOne(engine, token)), token: secret, previous }
}

async function rotate(
  tx: Tx,
  x: RequestContext,
  id: string,
  untilMs: number,
  made: { hash: string; prefix: string },
): Promise<(Pick<View<typeof rotatedToken>, 'previous'> & { token: StoredToken }) | Refusal> {
  const before = await lockToken(tx, id)
  if (before === undefined) return notFound('token', id)
  if (before.source === 'file') return fileOwned(before.name)
  const endsAtMs = Math.min(untilMs, before.expiresAtMs ?? Number.POSITIVE_INFINITY)
  const stays = endsAtMs > x.atMs
  const full = stays ? await exceedsTokens(tx, x, before.accountId) : undefined
  if (full !== undefined) return full
  await replaceSecret(tx, id, made)
  const oldId = newShortId('tok', x.atMs)
  const old = {
    ...before,
    id: oldId,
    name: retiredName(before, oldId),
    createdAtMs: x.atMs,
    expiresAtMs: endsAtMs,
    // Both secrets spend one budget.
    lineage: before.lineage ?? before.id,
    // For every role: the old secret ends with the agreed overlap.
    staffBounds: { ...boundsBefore(before), expiresAtMs: endsAtMs },
  }
  if (stays) await insertToken(tx, old)
  const token = (await findToken(tx, id))!
  const previous = stays ? { id: old.id, name: old.name, expires_at: time(endsAtMs) } : null
  const after = { ...view(token), previous }
  await auditChange(tx, x, { action: 'token.rotate', subject: id, before: view(before), after })
  return { token, previous }
}

const maxName = 64

/** `ci-old-aHp5Q-1f3c9e`: with what the old secret begins with, and so that no two are alike. */
function retiredName({ name, prefix }: StoredToken, id: string): string {
  const ending = `-old-${prefix.slice('sk-'.length)}-${id.slice(-6)}`
  return name.slice(0, maxName - ending.length) + ending
}
