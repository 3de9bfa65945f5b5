// The models that may make a task: the one that was called, or the members of a virtual model in
// order. Finds the first with a free slot, and holds for the most expensive.
import type { Route } from '../../../catalog/snapshot.ts'
import type {
  CallContext,
  ImageCreate,
  ResponseCreate,
  VideoCreate,
} from '../../../contract/caller-api.ts'
import type { Model } from '../../../contract/catalog.ts'
import { modelNotFound, Refusal, refuse } from '../../../contract/errors.ts'
import type { Price } from '../../../contract/price.ts'
import type { VideoTask } from '../../../contract/task.ts'
import { policyRefusal, qualifying } from '../../admission/data-policy.ts'
import { membersInOrder } from '../../admission/members.ts'
import { boundsAt } from '../../admission/min-output.ts'
import { unpricedIn } from '../../admission/server-tools.ts'
import { boundsOf } from '../../admission/text-bounds.ts'
import type { Engine } from '../../engine.ts'
import type { PickedRoute } from '../../routing/pick-route.ts'
import { takeFreePlace, takePlace } from '../../routing/take-place.ts'
import { imageTokenBound } from '../image-tokens.ts'
import { holdFor, plainBound } from '../task-charge.ts'
import { keysOf } from '../task-upstream.ts'

/** A caller's input for a task, completed. */
export type TaskInput =
  | (Omit<VideoCreate, 'request'> & Pick<VideoTask, 'request'>)
  | ImageCreate
  | ResponseCreate

/** A model that can make the task, and at which price. */
export interface TaskMember {
  model: Model
  routes: readonly Route[]
  price: Price
  /** Set where another model was called. */
  servedModel?: string
}

type TaskMembers = readonly [TaskMember, ...TaskMember[]]

/** Best first. */
export function taskMembers(
  engine: Engine,
  ctx: CallContext,
  called: Model,
  input: TaskInput,
): TaskMembers | Refusal {
  const { backing } = called
  const members =
    backing === undefined
      ? [{ model: called }]
      : membersInOrder(ctx, backing, input.interface, engine.random)
  if (members instanceof Refusal) return members
  const served = members
    .map(({ model }) => ({ model, routes: routesFor(engine, model, input) }))
    .filter(({ routes }) => routes.length > 0)
  if (served.length === 0) return notSupported(engine, called)
  const routed = served
    .map(({ model, routes }) => ({ model, routes: qualifying(ctx.token, routes) }))
    .filter(({ routes }) => routes.length > 0)
  if (routed.length === 0) return policyRefusal(ctx.token, called.name)
  let unpriced: Refusal | undefined
  const able = routed.flatMap(({ model, routes }): TaskMember[] => {
    const pricedAs = backing?.pricedAs ?? model.pricedAs ?? model.name
    const price = engine.prices.current(pricedAs, ctx.token.accountId)
    if (price === undefined) return []
    const refused = input.kind === 'response' ? unpricedIn(input.call, price.terms) : undefined
    unpriced ??= refused
    if (refused !== undefined) return []
    const served = model === called ? {} : { servedModel: model.name }
    return [{ model, routes: pinned(engine, routes, input.pinnedTo), price, ...served }]
  })
  const [first, ...others] = able
  return first === undefined ? (unpriced ?? modelNotFound(called.name)) : [first, ...others]
}

function notSupported(engine: Engine, called: Model): Refusal {
  const ways = engine.catalog.servedBy(called).join(', ')
  const message = `model '${called.name}' cannot be used here; it is served by: ${ways}`
  return refuse('model_not_supported', message, { param: 'model' })
}

export const routesFor = (
  engine: Engine,
  model: Model,
  { interface: use, kind }: Pick<TaskInput, 'interface' | 'kind'>,
): Route[] =>
  engine.catalog
    .routes(model, use)
    .filter(({ protocol }) => engine.providers.get(protocol)?.[kind] !== undefined)
    .filter(({ channel }) => kind !== 'response' || channel.capabilities?.background !== false)

function pinned(
  engine: Engine,
  routes: readonly Route[],
  to: TaskInput['pinnedTo'],
): readonly Route[] {
  if (to === undefined) return routes
  return routes
    .filter(({ channel, protocol }) => channel.id === to.channelId && protocol === to.protocol)
    .map((route) => {
      const keys = keysOf(engine, route.channel.keys, to)
      return { ...route, channel: { ...route.channel, keys } }
    })
    .filter(({ channel }) => channel.keys.length > 0)
}

/** A member with its slot, and those that follow it. */
export interface PlacedMember {
  member: TaskMember
  picked: PickedRoute
  others: readonly TaskMember[]
}

/** The first with a free slot; where all that could serve are full, the best of them is waited for. */
export async function placeTask(
  engine: Engine,
  { token, signal }: CallContext,
  members: TaskMembers,
): Promise<PlacedMember | Refusal> {
  const { accountId } = token
  const [only, ...rest] = members
  const free = rest.length === 0 ? undefined : placeNow(engine, accountId, members)
  if (free !== undefined && 'picked' in free) return free
  const at = free === undefined ? 0 : Math.max(0, free.fullAt)
  const member = members[at] ?? only
  const picked = await takePlace(engine, { routes: member.routes, slotOwner: accountId }, signal)
  if (picked instanceof Refusal) return picked
  return { member, picked, others: members.slice(at + 1) }
}

/** `fullAt`: the first with all of its slots taken, or -1. */
export function placeNow(
  engine: Engine,
  accountId: string,
  members: readonly TaskMember[],
): PlacedMember | { fullAt: number } {
  let fullAt = -1
  for (const [at, member] of members.entries()) {
    const picked = takeFreePlace(engine, { routes: member.routes, slotOwner: accountId })
    if (picked === 'full' && fullAt === -1) fullAt = at
    if (picked === 'full' || picked instanceof Refusal) continue
    return { member, picked, others: members.slice(at + 1) }
  }
  return { fullAt }
}

/** The request with its maximum at an upstream of this protocol. */
export function withBound(
  engine: Engine,
  { model, price }: Pick<TaskMember, 'model' | 'price'>,
  input: TaskInput,
  route: Route,
): TaskInput {
  if (input.kind === 'response') return boundedResponse(model, input, route)
  if (input.kind === 'image') {
    if (price.terms.unit !== 'token') return input
    const tokenBound = imageTokenBound(model, input.request)
    return { ...input, request: { ...input.request, tokenBound } }
  }
  const { request } = input
  const outlook = engine.providers.get(route.protocol)?.video?.outlook?.(request, model.name)
  const expected = request.native === undefined ? {} : outlook?.expected
  const bound = outlook?.bound ?? plainBound(model.name, request)
  return { ...input, request: { ...request, ...expected, bound } }
}

/** Those of the others whose price has a rate for the request, and a hold that is enough for each. */
export function affordable(
  engine: Engine,
  input: TaskInput,
  others: readonly TaskMember[],
  ownNanos: bigint,
): { others: TaskMember[]; holdNanos: bigint } {
  let holdNanos = ownNanos
  const kept = others.filter((member) => {
    const costs = member.routes.map((route) =>
      holdFor(member.price.terms, withBound(engine, member, input, route), engine.clock.nowMs()),
    )
    if (costs.length === 0 || costs.includes(undefined)) return false
    for (const nanos of costs) if (nanos! > holdNanos) holdNanos = nanos!
    return true
  })
  return { others: kept, holdNanos }
}

function boundedResponse(model: Model, input: ResponseCreate, route: Route): ResponseCreate {
  const { inputTokens, windowTokens, outputTokens, toolUses } = boundsAt(
    boundsOf(model, input.call),
    route,
  )
  const bounds = { inputTokens, windowTokens, outputTokens, ...(toolUses && { toolUses }) }
  return { ...input, request: { ...input.request, bounds } }
}
