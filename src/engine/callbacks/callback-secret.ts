// The secret notices are signed with: the operator's, or one that the first start made and keeps in
// the store, sealed. There is always one.

import type { Seal } from '../../lib/seal.ts'
import { newWebhookSecret } from '../../lib/webhook.ts'
import type { Store } from '../../store/index.ts'
import { putMetaIfAbsent } from '../../store/meta.ts'
import type { Engine } from '../engine.ts'

const place = 'callback_secret'

/** The same for every gateway on a database. */
export async function loadOwnSecret(store: Store, seal: Seal): Promise<string> {
  const made = seal.encrypt(newWebhookSecret(), place)
  const sealed = await store.tx((tx) => putMetaIfAbsent(tx, place, made))
  return seal.decrypt(sealed, place)
}

export const callbackSecret = ({ declared, callbacks }: Engine): string =>
  declared.file.callbacks?.secret ?? callbacks.ownSecret
