// The keys that sign receipts: created by the first gateway that opens the database, stored in it
// under the master key, and shared by all. The newest signs; earlier ones stay published.

import type { Seal } from '../../lib/crypto/seal.ts'
import { createSigner, type KeyPair, newKeyPair, type Signer } from '../../lib/crypto/signing.ts'
import type { Store } from '../../store/index.ts'
import { putMetaIfAbsent } from '../../store/sql/meta.ts'

export interface SigningKeys {
  readonly signer: Signer
  /** All public keys ever used, oldest first. */
  readonly published: readonly string[]
}

interface KeptKey {
  key: string
  /** The private half, encrypted with the master key. */
  sealed: string
}

const place = 'signing_keys'
const placeOf = (key: string) => `${place}:${key}`

export async function loadSigningKeys(
  store: Store,
  seal: Seal,
  make: () => KeyPair = newKeyPair,
): Promise<SigningKeys> {
  const made = make()
  const first: KeptKey = { key: made.key, sealed: seal.encrypt(made.secret, placeOf(made.key)) }
  const text = await store.tx((tx) => putMetaIfAbsent(tx, place, JSON.stringify([first])))
  const kept = JSON.parse(text) as KeptKey[]
  const { key, sealed } = kept.at(-1)!
  return {
    signer: createSigner({ key, secret: seal.decrypt(sealed, placeOf(key)) }),
    published: kept.filter((each) => isOurs(each, seal)).map((each) => each.key),
  }
}

/** With database write access a key can be inserted, but not its encrypted private half. */
function isOurs({ key, sealed }: KeptKey, seal: Seal): boolean {
  try {
    return createSigner({ key, secret: seal.decrypt(sealed, placeOf(key)) }).key === key
  } catch {
    return false
  }
}
