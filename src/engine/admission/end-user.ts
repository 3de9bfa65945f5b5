// The end user of a call, as its account keeps it: a keyed hash, the name itself, or not at all. The
// hash is of one account: the same person has another one elsewhere.
import type { Token } from '../../contract/catalog.ts'
import { endUserIn, endUserText, withEndUser as joined } from '../../contract/tags/index.ts'
import type { Seal } from '../../lib/crypto/seal.ts'
import type { Account } from '../../store/catalog/accounts.ts'
import type { Seals } from '../base-deps.ts'

/** A longer text is hashed in any case: the store's keys have limits. */
const maxPlainLength = 256
/** Hashes remembered; more are computed again. */
const maxRemembered = 4_096

const remembered = new WeakMap<Seal, Map<string, string>>()

export function withEndUser(
  deps: Seals,
  { accountId, endUsers }: Token,
  tags: string | undefined,
  fields: Readonly<Record<string, unknown>>,
): string | undefined {
  if (endUsers === 'off') return tags
  const name = endUserIn(fields)
  return name === undefined ? tags : joined(tags, keptEndUser(deps, { accountId, endUsers }, name))
}

/** The name under which an account keeps an end user. */
const keptEndUser = (
  { seal }: Seals,
  { accountId, endUsers }: Pick<Token, 'accountId'> & { endUsers?: Token['endUsers'] | undefined },
  name: string,
): string => (endUsers === 'plain' && isShort(name) ? name : hashed(seal, accountId, name))

/** As it is stored, which takes up to nine letters for one. */
const isShort = (name: string): boolean =>
  name.length <= maxPlainLength && endUserText(name).length <= maxPlainLength

function hashed(seal: Seal, accountId: string, name: string): string {
  const known = remembered.get(seal) ?? new Map<string, string>()
  remembered.set(seal, known)
  const key = `${accountId} ${name}`
  const before = known.get(key)
  if (before !== undefined) return before
  const digest = Buffer.from(seal.derive(`end user ${key}`)).toString('base64url')
  const hash = `eu_${digest.slice(0, 22)}`
  if (name.length > maxPlainLength) return hash
  if (known.size >= maxRemembered) known.clear()
  known.set(key, hash)
  return hash
}

const hashShape = /^eu_[\w-]{22}$/

/** An end user in a question: as rows show it or, of one account, by its own name. */
export const endUserAsked = (
  deps: Seals,
  account: Account | undefined,
  asked: string | undefined,
): string | undefined =>
  asked === undefined || account === undefined || hashShape.test(asked)
    ? asked
    : keptEndUser(deps, { accountId: account.id, endUsers: account.endUsers }, asked)
