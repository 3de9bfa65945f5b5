// The secrets that sign callbacks: one for each account, derived from the master key and so never
// stored, and rotatable; or the operator's one from the file, for all accounts. After a rotation
// the old secret also signs for a while.

import type { FileDeclaration } from '../../contract/config-schema/index.ts'
import type { Seal } from '../../lib/crypto/seal.ts'
import { webhookSecretOf } from '../../lib/net/webhook.ts'
import { findRotation } from '../../store/catalog/callback-secrets.ts'
import type { Store } from '../../store/index.ts'
import { getMeta, putMetaIfAbsent } from '../../store/sql/meta.ts'
import type { BaseDeps } from '../base-deps.ts'

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

export interface SecretDeps extends BaseDeps {
  readonly seal: Seal
  readonly declared: { readonly file: FileDeclaration; readonly sharedSecret?: SharedSecret }
}

export async function callbackSecrets(
  { declared, seal, store, clock }: SecretDeps,
  accountId: string,
): Promise<CallbackSecrets> {
  const given = declared.file.callbacks?.secret
  if (given !== undefined) return { source: 'file', secret: given }
  const { generation, rotatedAtMs } = await findRotation(store.read, accountId)
  const secretOf = (which: number) => webhookSecretOf(seal.derive(`callback ${accountId} ${which}`))
  const old =
    rotatedAtMs === undefined
      ? declared.sharedSecret
      : { secret: secretOf(generation - 1), untilMs: rotatedAtMs + overlapMs }
  return {
    source: 'account',
    secret: secretOf(generation),
    ...(rotatedAtMs !== undefined && { rotatedAtMs }),
    ...(old !== undefined && old.untilMs > clock.nowMs() && { old }),
  }
}

/** The secrets that sign a callback of the account now, the current one first. */
export async function signingSecrets(deps: SecretDeps, accountId: string): Promise<string[]> {
  const { secret, old } = await callbackSecrets(deps, accountId)
  return old === undefined ? [secret] : [secret, old.secret]
}
