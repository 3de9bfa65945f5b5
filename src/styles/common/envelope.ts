// The envelope in which an upstream's seal of its reasoning travels to a caller and back: bound to
// the realm that made it, so that no other upstream ever gets it. Nothing is stored.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isObject } from '../../lib/json/parse.ts'

type Json = Readonly<Record<string, unknown>>

/** What an upstream needs to recognise its own reasoning. */
export interface Seal {
  /** Upstreams that accept each other's seals. */
  realm: string
  /** Opaque: a signature, encrypted content, or a redacted block. */
  data: string
  /** The exact text that the signature is for. */
  text?: string
  /** The id that the sealed item has to keep. */
  itemId?: string
  redacted?: true
}

export interface Envelopes {
  wrap(seal: Seal): string
  /** Undefined for whatever this gateway did not make, or was changed since. */
  unwrap(text: string): Seal | undefined
}

/** The data of a seal for reasoning that an upstream recognises by its text alone. */
export const plainSeal = 'text'

const version = 'gw1'
const tagBytes = 12
const shape = new RegExp(`^${version}\\.[0-9a-f]{8}\\.[\\w-]+\\.[\\w-]+$`)

/** Of this gateway or of another one; no upstream makes such a seal. */
export const isEnvelope = (seal: string): boolean => seal.startsWith(version) && shape.test(seal)

export function createEnvelopes(key: Uint8Array): Envelopes {
  const tagOf = (realm: string, payload: string): Buffer =>
    createHmac('sha256', key).update(`${realm}.${payload}`).digest().subarray(0, tagBytes)
  return {
    wrap({ realm, ...rest }) {
      const short = shortRealm(realm)
      const payload = Buffer.from(JSON.stringify({ ...rest, realm })).toString('base64url')
      return `${version}.${short}.${payload}.${tagOf(short, payload).toString('base64url')}`
    },
    unwrap(text) {
      const [head, short, payload, tag, ...more] = text.split('.')
      if (head !== version || !short || !payload || !tag || more.length > 0) return undefined
      const given = Buffer.from(tag, 'base64url')
      if (given.length !== tagBytes || !timingSafeEqual(given, tagOf(short, payload))) {
        return undefined
      }
      return sealIn(Buffer.from(payload, 'base64url').toString())
    },
  }
}

/** Enough to tell realms apart by eye. */
const shortRealm = (realm: string): string =>
  createHmac('sha256', 'realm').update(realm).digest('hex').slice(0, 8)

function sealIn(text: string): Seal | undefined {
  const value: unknown = JSON.parse(text)
  return isObject(value) && typeof value['realm'] === 'string' && typeof value['data'] === 'string'
    ? (value as unknown as Seal)
    : undefined
}

/** Whether the upstream must not get this seal. */
export type IsForeign = (seal: unknown) => boolean

/** The same object when nothing was changed; what becomes undefined is left out. */
export function mapObjects(
  holder: Json,
  name: string,
  map: (item: Json) => Json | undefined,
): Json {
  const list = holder[name]
  if (!Array.isArray(list)) return holder
  let kept: unknown[] | undefined
  for (let at = 0; at < list.length; at++) {
    const item: unknown = list[at]
    const mapped = isObject(item) ? map(item) : item
    if (mapped !== item) kept ??= list.slice(0, at)
    if (mapped !== undefined) kept?.push(mapped)
  }
  return kept === undefined ? holder : { ...holder, [name]: kept }
}
