// The members of a virtual model in the order in which they are tried.
import { interfacesOf } from '../../catalog/snapshot.ts'
import type { CallContext } from '../../contract/caller-api.ts'
import type { Backing, Interface, Member } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'

/**
 * Those that may serve, best first; the first choice alone where the caller wants no other. `share`: a
 * number from 0 to 1, by chance or by the conversation.
 */
export function membersInOrder(
  ctx: CallContext,
  { members }: Backing,
  use: Interface,
  share: () => number,
): readonly Member[] | Refusal {
  const wanted = members.length === 1 ? undefined : (ctx.token.fallback ?? ctx.fallback?.())
  if (wanted instanceof Refusal) return wanted
  const able = members.filter(({ model }) => interfacesOf(model).includes(use))
  const ordered = byWeight(able, share)
  return wanted === 'never' ? ordered.slice(0, 1) : ordered
}

/** One with a weight comes first, by chance; all others keep their order. */
function byWeight(members: readonly Member[], share: () => number): readonly Member[] {
  const total = members.reduce((sum, { weight = 0 }) => sum + weight, 0)
  if (total === 0) return members
  let left = share() * total
  const first = members.find(({ weight = 0 }) => {
    left -= weight
    return weight > 0 && left < 0
  })
  const picked = first ?? members.findLast(({ weight = 0 }) => weight > 0)!
  return [picked, ...members.filter((each) => each !== picked)]
}
