// Where the keys of a channel may go: only to origins (scheme, host and port) they were given for. A
// channel that gets another origin needs its keys anew, for every role: otherwise an operator could have
// the stored keys sent to a server of their own and read them there.
import type { Channel } from '../../contract/catalog.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'

type Addresses = Channel['protocols']

const originsOf = (addresses: Addresses): string[] => [
  ...new Set(Object.values(addresses).map((address) => new URL(address).origin)),
]

/** A refusal when stored keys would go to an origin that they were not given for. */
export function keysNeeded(before: Addresses, after: Addresses): Refusal | undefined {
  const known = originsOf(before)
  const added = originsOf(after).find((origin) => !known.includes(origin))
  if (added === undefined) return undefined
  const message = `keys must be given again: the stored ones were not given for ${added}`
  return refuse('invalid_request', message, { param: 'keys' })
}
