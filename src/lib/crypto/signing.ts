// Hashes and Ed25519 signatures, all as base64url. Knows nothing of what is signed or where keys
// are stored.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'

export interface Signer {
  /** The public key: base64url of its 32 bytes. */
  readonly key: string
  sign(text: string): string
}

/** A stored key: both halves as base64url. */
export interface KeyPair {
  key: string
  secret: string
}

export const hashText = (text: string): string => hash('sha256', text, 'base64url')

/** A hash over a sequence of texts. */
export function newDigest(): { add(text: string): void; end(): string } {
  const sha = createHash('sha256')
  return {
    add: (text) => void sha.update(`${text}\n`),
    end: () => sha.digest('base64url'),
  }
}

/** A key pair whose public half does not start like a command-line flag. */
export function newKeyPair(): KeyPair {
  for (;;) {
    const { privateKey } = generateKeyPairSync('ed25519')
    const { x, d } = privateKey.export({ format: 'jwk' })
    if (!x!.startsWith('-')) return { key: x!, secret: d! }
  }
}

export function createSigner({ key, secret }: KeyPair): Signer {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: key, d: secret }
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' })
  return {
    key,
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64url'),
  }
}

/** PEM, as other tools read it. */
export const publicPem = (key: string): string =>
  publicKey(key).export({ type: 'spki', format: 'pem' }) as string

const keyBytes = 32
const signatureBytes = 64

/** Accepts only the canonical spelling of these bytes. */
const isBase64url = (text: string, bytes: number): boolean => {
  const decoded = Buffer.from(text, 'base64url')
  return decoded.length === bytes && decoded.toString('base64url') === text
}

export const isPublicKey = (text: string): boolean => isBase64url(text, keyBytes)

export function isSigned(text: string, key: string, signature: string): boolean {
  if (!isPublicKey(key) || !isBase64url(signature, signatureBytes)) return false
  try {
    return verify(null, Buffer.from(text), publicKey(key), Buffer.from(signature, 'base64url'))
  } catch {
    // The bytes are not a point of the curve.
    return false
  }
}

const maxKnownKeys = 64
const knownKeys = new Map<string, KeyObject>()

/** Cached: creating one costs more than using it. */
function publicKey(key: string): KeyObject {
  const known = knownKeys.get(key)
  if (known !== undefined) return known
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: key }
  const made = createPublicKey({ key: jwk, format: 'jwk' })
  if (knownKeys.size >= maxKnownKeys) knownKeys.clear()
  knownKeys.set(key, made)
  return made
}
