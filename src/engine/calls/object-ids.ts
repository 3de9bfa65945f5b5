// Ids of objects that live in the operator's upstream account, as callers see them: the upstream's
// own id with a mark behind it. The mark says at which channel and key the object lives and proves
// for which account it was made, so nothing has to be stored.
//   resp_68ab… -> resp_68ab…_gw<place><proof>
import { timingSafeEqual } from 'node:crypto'
import type { Channel } from '../../contract/catalog.ts'
import type { Seal } from '../../lib/crypto/seal.ts'

const placeLength = 12
const proofLength = 32
const markLength = 3 + placeLength + proofLength
const marked = /^[\w.:-]+_gw[0-9a-f]{44}$/
const maxIdLength = 512

/** The channel and key that hold an object. */
interface Home {
  channel: Channel
  key: string
}

const places = new WeakMap<Channel, Map<string, string>>()

/** Short and stable: the same for the same channel and key, at every gateway with this master key. */
export function placeOf(seal: Seal, { channel, key }: Home): string {
  const known = places.get(channel) ?? new Map<string, string>()
  places.set(channel, known)
  const before = known.get(key)
  if (before !== undefined) return before
  const made = seal.sign(`place ${channel.id} ${key}`).slice(0, placeLength)
  known.set(key, made)
  return made
}

const proofOf = (seal: Seal, accountId: string, place: string, id: string): string =>
  seal.sign(`object ${accountId} ${place} ${id}`)

/** The suffix for an id that goes to this account. */
export const markFor = (seal: Seal, accountId: string, home: Home, id: string): string => {
  const place = placeOf(seal, home)
  return `_gw${place}${proofOf(seal, accountId, place, id)}`
}

/** The upstream's id and its channel and key; undefined when it was not made for this account. */
export function openId(
  seal: Seal,
  accountId: string,
  given: string,
): { id: string; place: string } | undefined {
  if (given.length > maxIdLength || !marked.test(given)) return undefined
  const id = given.slice(0, -markLength)
  const place = given.slice(-placeLength - proofLength, -proofLength)
  const proof = Buffer.from(given.slice(-proofLength))
  const expected = Buffer.from(proofOf(seal, accountId, place, id))
  return timingSafeEqual(proof, expected) ? { id, place } : undefined
}
