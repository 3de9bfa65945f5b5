// The members of a virtual model that may serve a call: in which order, at which price, how much is held so
// that any of them can, and how a call moves from one to the next.
import { nativeRoutes } from '../../catalog/snapshot.ts'
import type { Model } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { sentAttempts, type TextCall } from '../../contract/requests.ts'
import { policyRefusal, qualifying } from '../admission/data-policy.ts'
import { membersInOrder } from '../admission/members.ts'
import { heldBounds } from '../admission/min-output.ts'
import { priceFor } from '../admission/price-for.ts'
import { appliedAt } from '../admission/price-reach.ts'
import { resolveReferences } from '../admission/references.ts'
import { maxCharge, unpricedIn } from '../admission/server-tools.ts'
import { boundsOf } from '../admission/text-bounds.ts'
import { shareOf } from '../routing/affinity.ts'
import type { PickedRoute } from '../routing/pick-route.ts'
import { takeFreePlace, takePlace } from '../routing/take-place.ts'
import type { OpenCall, TextMember } from './open-call.ts'

/** Attempts at one member while there is another, at the last one, and at all of them together. */
const maxPerMember = 3
const maxAtLast = 5
const maxTogether = 10

type Members = readonly [TextMember, ...TextMember[]]

/** The call gets its first member; returns the cost of the most expensive one. */
export function planMembers(open: OpenCall, model: Model): bigint | Refusal {
  open.admittedMs = open.engine.clock.nowMs()
  const all = textMembers(open, model)
  if (all instanceof Refusal) return all
  const members = open.call.references === undefined ? all : referredTo(open, all)
  if (members instanceof Refusal) return members
  const [first, ...others] = members
  moveTo(open, first, others)
  let wantedNanos = 0n
  for (const { bounds, routes, price, applied } of members) {
    const nanos = maxCharge(open.call, price.terms, heldBounds(bounds, routes), applied)
    if (nanos > wantedNanos) wantedNanos = nanos
  }
  return wantedNanos
}

/** Objects that are stored upstream decide which member serves, and then no other may. */
function referredTo(open: OpenCall, all: Members): Members | Refusal {
  let refusal: Refusal | undefined
  for (const member of all) {
    const found = resolveReferences(open.engine.seal, open.ctx, open.call, member.routes)
    if (found instanceof Refusal) {
      refusal ??= found
      continue
    }
    open.call = found.call
    open.tried = found.tried
    const others = found.tried === undefined ? all.filter((other) => other !== member) : []
    return [{ ...member, routes: found.routes }, ...others]
  }
  return refusal!
}

/** Those that this interface serves and that have a price, in the order in which they are tried. */
function textMembers(open: OpenCall, model: Model): Members | Refusal {
  const { engine, ctx, call } = open
  const share = () => shareOf(ctx.token, call) ?? engine.random()
  const ordered = membersInOrder(ctx, model.backing!, call.interface, share)
  if (ordered instanceof Refusal) return ordered
  const able: TextMember[] = []
  let refusal: Refusal | undefined
  let unqualified = false
  for (const { model: member } of ordered) {
    const all = engine.catalog.routes(member, call.interface)
    const served = ctx.token.translation === 'off' ? nativeRoutes(all) : all
    const routes = qualifying(ctx.token, served)
    if (routes.length === 0) {
      if (served.length > 0) unqualified = true
      continue
    }
    const priced = model.backing?.pricedAs === undefined ? member : model
    const price = priceFor(engine, ctx, call.model, priced)
    const refused = price instanceof Refusal ? price : unpricedIn(call, price.terms)
    if (refused !== undefined || price instanceof Refusal) {
      refusal ??= refused
      continue
    }
    const applied = appliedAt(price.terms, open.admittedMs)
    able.push({ model: member, routes, price, applied, bounds: boundsOf(member, call) })
  }
  const [first, ...others] = able
  if (first !== undefined) return [first, ...others]
  const none = unqualified ? policyRefusal(ctx.token, call.model) : notServed(call.model)
  return refusal ?? none
}

const notServed = (model: string): Refusal =>
  refuse('no_available_channel', `no channel serves the first choice of '${model}' here`, {
    retryAfterSeconds: 10,
  })

/** Its price, bounds and routes are from now on those of this member; the hold covers each of them. */
function moveTo(
  open: OpenCall,
  { model, routes, price, applied, bounds }: TextMember,
  others: readonly TextMember[],
): void {
  open.served = model
  open.routes = routes
  open.price = price
  open.applied = applied
  open.bounds = bounds
  open.others = others
  open.record.priceId = price.id
}

/** The name under which its conversation is kept: that of the member that serves it. */
export const placedCall = ({ call, served }: OpenCall): TextCall =>
  served === undefined ? call : { ...call, model: served.name }

/** A slot for the current member, else for the next one that has a free one. */
export async function takeAmongMembers(open: OpenCall): Promise<PickedRoute | Refusal> {
  const { tried, placement } = open
  const members = [memberOf(open), ...(open.others ?? [])]
  let first: Refusal | undefined
  let fullAt = -1
  for (const [at, member] of members.entries()) {
    if (at > 0) moveOn(open, member, members.slice(at + 1))
    const taken = takeFreePlace(open.engine, open)
    if (taken !== 'full' && !(taken instanceof Refusal)) return taken
    if (taken instanceof Refusal) first ??= taken
    else if (fullAt === -1) fullAt = at
  }
  if (fullAt === -1) return first!
  // All that could serve are full: the best of them is waited for.
  if (fullAt < members.length - 1) moveOn(open, members[fullAt]!, members.slice(fullAt + 1))
  if (fullAt === 0) {
    open.tried = tried
    open.placement = placement
  }
  return takePlace(open.engine, open, open.ctx.signal)
}

const memberOf = ({ served, routes, price, applied, bounds }: OpenCall): TextMember => ({
  model: served!,
  routes,
  price,
  applied,
  bounds,
})

/** What was tried says nothing about another model. */
function moveOn(open: OpenCall, member: TextMember, others: readonly TextMember[]): void {
  moveTo(open, member, others)
  const { conversations } = open.engine.routing
  open.placement = conversations.placementOf(member.routes, open.ctx.token, placedCall(open))
  open.tried = undefined
}

/** False when a call of a virtual model has had its attempts; a member that has had its own gets no more. */
export function mayTryMore(open: OpenCall): boolean {
  const sent = sentAttempts(open.record.detail)
  if (sent.length >= maxTogether) return false
  const { served, others = [] } = open
  const here = sent.filter(({ model }) => model === served?.name).length
  if (here >= (others.length === 0 ? maxAtLast : maxPerMember)) open.routes = []
  return true
}
