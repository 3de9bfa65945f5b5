// Secrets at rest: AES-256-GCM bound to the row it belongs to, and a keyed hash for tokens. One
// master key; each purpose has its own derived key.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export interface Seal {
  /** `context` is the row id: a ciphertext moved to another row does not open. */
  encrypt(plain: string, context: string): string
  decrypt(sealed: string, context: string): string
  /** Keyed hash of a whole token; the pepper is useless without the master key. */
  hash(token: string): string
  /** The same of a token of which only the SHA-256 is known, in hexadecimal. */
  hashOfDigest(digest: string): string
  /** A signature that requires the master key; safe in a URL. */
  sign(text: string): string
  /** 32 bytes derived from the master key and this text; deterministic. */
  derive(text: string): Uint8Array
}

const derived = (masterKey: Uint8Array, use: string): Buffer =>
  Buffer.from(hkdfSync('sha256', masterKey, '', use, 32))

/** Key that seals the high-water mark beside a SQLite database; base64. */
export const markKeyOf = (masterKey: Uint8Array): string =>
  derived(masterKey, 'high-water mark').toString('base64')

export function createSeal(masterKey: Uint8Array): Seal {
  const encryptionKey = derived(masterKey, 'upstream keys')
  const hasherFor = (use: string) => new Bun.CryptoHasher('sha256', derived(masterKey, use))
  const hashing = hasherFor('token hashes')
  const signing = hasherFor('links')
  const deriving = hasherFor('derived secrets')
  return {
    encrypt(plain, context) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', encryptionKey, nonce)
      cipher.setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return `v1.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`
    },
    decrypt(sealed, context) {
      const bytes = Buffer.from(sealed.slice(3), 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', encryptionKey, bytes.subarray(0, 12))
      decipher.setAAD(Buffer.from(context))
      decipher.setAuthTag(bytes.subarray(12, 28))
      return decipher.update(bytes.subarray(28), undefined, 'utf8') + decipher.final('utf8')
    },
    // A copy of a hasher that has its key costs a fifth of a new one.
    hash: (token) => hashing.copy().update(token).digest('base64url'),
    // A token has no blank in it, so that no token has the hash of a digest.
    hashOfDigest: (digest) => hashing.copy().update(`sha256 ${digest}`).digest('base64url'),
    sign: (text) => signing.copy().update(text).digest('hex').slice(0, 32),
    derive: (text) => deriving.copy().update(text).digest(),
  }
}
