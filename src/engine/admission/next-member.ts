// Moves a call of a virtual model from one member to the next: the price, the bounds and the routes
// of its admission are then those of that member. Its hold covers each of them.
import type { CallContext } from '../../contract/caller-api.ts'
import { Refusal } from '../../contract/errors.ts'
import { type RequestRecord, sentAttempts, type TextCall } from '../../contract/requests.ts'
import type { Conversations } from '../routing/affinity.ts'
import type { PickedRoute } from '../routing/pick-route.ts'
import { type PlaceDeps, takeFreePlace, takePlace } from '../routing/take-place.ts'
import type { Admission } from './admit.ts'
import type { TextMember } from './members.ts'

/** An admitted call that looks for a channel. */
interface MovingCall {
  readonly engine: PlaceDeps & { readonly routing: { readonly conversations: Conversations } }
  readonly ctx: CallContext
  readonly call: TextCall
  readonly admission: Admission
  readonly record: RequestRecord
}

/** Attempts at one member while there is another, at the last one, and at all of them together. */
const maxPerMember = 3
const maxAtLast = 5
const maxTogether = 10

/** A slot for the current member, else for the next one that has a free one. */
export async function takeAmongMembers(open: MovingCall): Promise<PickedRoute | Refusal> {
  const { engine, ctx, admission, record } = open
  const { accountId } = record
  const before = { tried: admission.tried, placement: admission.placement }
  const current = memberOf(open)
  const members = [current, ...(admission.others ?? [])]
  let first: Refusal | undefined
  let fullAt = -1
  for (const [at, member] of members.entries()) {
    if (at > 0) moveTo(open, member, members.slice(at + 1))
    const { routes, tried, placement } = admission
    const taken = takeFreePlace(engine, routes, { accountId, tried, placement })
    if (taken !== 'full' && !(taken instanceof Refusal)) return taken
    if (taken instanceof Refusal) first ??= taken
    else if (fullAt === -1) fullAt = at
  }
  if (fullAt === -1) return first!
  // All that could serve are full: the best of them is waited for.
  if (fullAt < members.length - 1) moveTo(open, members[fullAt]!, members.slice(fullAt + 1))
  if (fullAt === 0) Object.assign(admission, before)
  const { routes, tried, placement } = admission
  return takePlace(engine, routes, { accountId, signal: ctx.signal, tried, placement })
}

function memberOf({ admission }: MovingCall): TextMember {
  const { served, routes, price, bounds } = admission
  return { model: served!, routes, price, bounds }
}

/** What was tried says nothing about another model. */
function moveTo(open: MovingCall, member: TextMember, others: readonly TextMember[]): void {
  const { engine, ctx, call, admission, record } = open
  const { model, routes, price, bounds } = member
  const asked = { ...call, model: model.name }
  const placement = engine.routing.conversations.placementOf(routes, ctx.token, asked)
  Object.assign(admission, { served: model, routes, price, bounds, others, placement })
  admission.tried = undefined
  record.priceId = price.id
}

/** False when a call of a virtual model has had its attempts; a member that has had its own gets no more. */
export function mayTryMore({ admission, record: { detail } }: MovingCall): boolean {
  const sent = sentAttempts(detail)
  if (sent.length >= maxTogether) return false
  const { served, others = [] } = admission
  const here = sent.filter(({ model }) => model === served?.name).length
  if (here >= (others.length === 0 ? maxAtLast : maxPerMember)) admission.routes = []
  return true
}
