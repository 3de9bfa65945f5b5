// The secrets that sign callbacks: one for each account, derived from the master key and so never
// stored, and rotatable; or the operator's one from the file, for all accounts. After a rotation
// the old secret also signs for a while.
import type { Seal } from '../../lib/crypto/seal.ts'
import { webhookSecretOf } from '../../lib/net/webhook.ts'
import { findRotation } from '../../store/catalog/callback-secrets.ts'
import type { Store } from '../../store/index.ts'
import { getMeta, putMetaIfAbsent } from '../../store/sql/meta.ts'
import type { Engine } from '../engine.ts'

/** How long receivers have to adopt a new secret. */
const overlapMs = 24 * 3_600_000
/** The same after an upgrade from one secret for all accounts. */
const sharedOverlapMs = 30 * 24 * 3_600_000

const sharedPlace = 'callback_secret'
const sincePlace = 'callback_secrets_since'

/** The single secret of versions before each account had its own. */
export interface SharedSecret {
  secret: string
  untilMs: number
}

/** Undefined where there was none, or it has expired. */
export async function loadSharedSecret(
  store: Store,
  seal: Seal,
  nowMs: number,
): Promise<SharedSecret | undefined> {
  const sealed = await getMeta(store.read, sharedPlace)
  if (sealed === undefined) return undefined
  const since = await store.tx((tx) => putMetaIfAbsent(tx, sincePlace, String(nowMs)))
  const untilMs = Number(since) + sharedOverlapMs
  return untilMs <= nowMs ? undefined : { secret: seal.decrypt(sealed, sharedPlace), untilMs }
}

interface CallbackSecrets {
  source: 'account' | 'file'
  /** The one in force. */
  secret: string
  rotatedAtMs?: number
  /** Also signs until then. */
  old?: { secret: string; untilMs: number }
}

type Needed = Pick<Engine, 'declared' | 'callbacks' | 'seal' | 'store' | 'clock'>

export async function callbackSecrets(engine: Needed, accountId: string): Promise<CallbackSecrets> {
  const { declared, callbacks, seal, store, clock } = engine
  const given = declared.file.callbacks?.secret
  if (given !== undefined) return { source: 'file', secret: given }
  const { generation, rotatedAtMs } = await findRotation(store.read, accountId)
  const secretOf = (which: number) => webhookSecretOf(seal.derive(`callback ${accountId} ${which}`))
  const old =
    rotatedAtMs === undefined
      ? callbacks.shared
      : { secret: secretOf(generation - 1), untilMs: rotatedAtMs + overlapMs }
  return {
    source: 'account',
    secret: secretOf(generation),
    ...(rotatedAtMs !== undefined && { rotatedAtMs }),
    ...(old !== undefined && old.untilMs > clock.nowMs() && { old }),
  }
}

/** The secrets that sign a callback of the account now, the current one first. */
export async function signingSecrets(engine: Needed, accountId: string): Promise<string[]> {
  const { secret, old } = await callbackSecrets(engine, accountId)
  return old === undefined ? [secret] : [secret, old.secret]
}
