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

/**
 * How every envelope begins. The whole is base64 of RFC 4648 section 4, because SDKs of some styles
 * declare seals as bytes: they decode them, and may encode them again in the URL-safe alphabet.
 */
const mark = 'gateway2'
const markBytes = Buffer.from(mark, 'base64').length
const tagBytes = 12
const alphabet = /^[\w+/-]+={0,2}$/
/** Envelopes of earlier versions, which callers still send back. */
const oldMark = 'gw1'
const oldShape = new RegExp(`^${oldMark}\\.[0-9a-f]{8}\\.[\\w-]+\\.[\\w-]+$`)

/** Of this gateway or of another one; no upstream makes such a seal. */
export const isEnvelope = (seal: string): boolean =>
  seal.startsWith(mark) ? alphabet.test(seal) : seal.startsWith(oldMark) && oldShape.test(seal)

export function createEnvelopes(key: Uint8Array): Envelopes {
  const tagOf = (...parts: (string | Uint8Array)[]): Buffer => {
    const hmac = createHmac('sha256', key)
    for (const part of parts) hmac.update(part)
    return hmac.digest().subarray(0, tagBytes)
  }
  const isTag = (given: Uint8Array, expected: Buffer): boolean =>
    given.length === tagBytes && timingSafeEqual(given, expected)
  const unwrapOld = (text: string): Seal | undefined => {
    const [, realm, payload, tag] = text.split('.') as [string, string, string, string]
    return isTag(Buffer.from(tag, 'base64url'), tagOf(`${realm}.${payload}`))
      ? sealIn(Buffer.from(payload, 'base64url'))
      : undefined
  }
  return {
    wrap(seal) {
      const payload = Buffer.from(JSON.stringify(seal))
      return mark + Buffer.concat([tagOf(mark, payload), payload]).toString('base64')
    },
    unwrap(text) {
      if (!isEnvelope(text)) return undefined
      if (!text.startsWith(mark)) return unwrapOld(text)
      const bytes = Buffer.from(text, 'base64')
      const payload = bytes.subarray(markBytes + tagBytes)
      const tag = bytes.subarray(markBytes, markBytes + tagBytes)
      return isTag(tag, tagOf(mark, payload)) ? sealIn(payload) : undefined
    },
  }
}

function sealIn(payload: Buffer): Seal | undefined {
  const value: unknown = JSON.parse(payload.toString())
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
