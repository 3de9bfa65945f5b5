// The models that may serve a call of a virtual model: in which order, at which price, and how much
// is held so that any of them can.
import { interfacesOf, nativeRoutes, type Route } from '../../catalog/snapshot.ts'
import type { CallContext } from '../../contract/caller-api.ts'
import type { Backing, Interface, Member, Model } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Price } from '../../contract/price.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { Seals } from '../base-deps.ts'
import { shareOf } from '../routing/affinity.ts'
import type { Tried } from '../routing/pick-route.ts'
import { heldBounds } from './min-output.ts'
import { type PriceDeps, priceFor } from './price-for.ts'
import { resolveReferences } from './references.ts'
import { maxCharge, toolRefusal } from './server-tools.ts'
import { boundsOf, type TextBounds } from './text-bounds.ts'

interface MemberDeps extends PriceDeps, Seals {
  readonly random: () => number
}

/** A model that can serve a call: how, at which price, and how much it may use. */
export interface TextMember {
  model: Model
  routes: readonly Route[]
  price: Price
  bounds: TextBounds
}

/** What an admission needs of the member that comes first. */
interface VirtualPlan extends Omit<TextMember, 'model'> {
  tried: Tried | undefined
  sent: TextCall
  served: Model
  others: readonly TextMember[]
  /** The cost of the most expensive member. */
  wantedNanos: bigint
}

export function planVirtual(
  engine: MemberDeps,
  ctx: CallContext,
  call: TextCall,
  model: Model,
): VirtualPlan | Refusal {
  const all = textMembers(engine, ctx, call, model)
  if (all instanceof Refusal) return all
  if (call.references !== undefined) return planReferred(engine, ctx, call, all)
  return planOf(all, { tried: undefined, sent: call })
}

function planOf(
  all: readonly [TextMember, ...TextMember[]],
  rest: Pick<VirtualPlan, 'tried' | 'sent'>,
): VirtualPlan {
  const [{ model: served, routes, price, bounds }, ...others] = all
  let wantedNanos = 0n
  for (const member of all) {
    const held = heldBounds(member.bounds, member.routes)
    const nanos = maxCharge(rest.sent, member.price.terms, held)
    if (nanos > wantedNanos) wantedNanos = nanos
  }
  return { routes, price, bounds, served, others, wantedNanos, ...rest }
}

/** Objects that are stored upstream decide which member serves, and then no other may. */
function planReferred(
  { seal }: MemberDeps,
  ctx: CallContext,
  call: TextCall,
  all: readonly [TextMember, ...TextMember[]],
): VirtualPlan | Refusal {
  let refusal: Refusal | undefined
  for (const [at, member] of all.entries()) {
    const found = resolveReferences(seal, ctx, call, member.routes)
    if (found instanceof Refusal) {
      refusal ??= found
      continue
    }
    const { call: sent, routes, tried } = found
    const others = tried === undefined ? all.filter((_, other) => other !== at) : []
    return planOf([{ ...member, routes }, ...others], { tried, sent })
  }
  return refusal!
}

/** Those that this interface serves and that have a price, in the order in which they are tried. */
function textMembers(
  engine: MemberDeps,
  ctx: CallContext,
  call: TextCall,
  model: Model,
): readonly [TextMember, ...TextMember[]] | Refusal {
  const share = () => shareOf(ctx.token, call) ?? engine.random()
  const ordered = membersInOrder(ctx, model.backing!, call.interface, share)
  if (ordered instanceof Refusal) return ordered
  const able: TextMember[] = []
  let refusal: Refusal | undefined
  for (const { model: member } of ordered) {
    const routes = memberRoutes(engine, ctx, member, call.interface)
    if (routes.length === 0) continue
    const priced = model.backing?.pricedAs === undefined ? member : model
    const price = priceFor(engine, ctx, call.model, priced)
    const refused =
      price instanceof Refusal
        ? price
        : call.serverTools && toolRefusal(call.serverTools, price.terms)
    if (refused !== undefined || price instanceof Refusal) refusal ??= refused
    else able.push({ model: member, routes, price, bounds: boundsOf(member, call) })
  }
  const [first, ...others] = able
  return first === undefined ? (refusal ?? notServed(call.model)) : [first, ...others]
}

function memberRoutes(
  { catalog }: Pick<MemberDeps, 'catalog'>,
  { token }: CallContext,
  member: Model,
  use: Interface,
): readonly Route[] {
  const all = catalog.routes(member, use)
  return token.translation === 'off' ? nativeRoutes(all) : all
}

const notServed = (model: string): Refusal =>
  refuse('no_available_channel', `no channel serves the first choice of '${model}' here`, {
    retryAfterSeconds: 10,
  })

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
