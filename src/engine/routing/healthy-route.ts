// The common case of picking a channel: nothing has failed, so only room and load decide. Cheap, because
// every call comes here, however many channels its model has.
import type { Catalog, Route } from '../../catalog/snapshot.ts'
import type { Affinity, MoveReason } from '../../contract/requests.ts'
import type { Clock } from '../../lib/clock.ts'
import { isKept, type Placement } from './affinity.ts'
import { hasPlace } from './channel-places.ts'
import { type ChannelState, channelStateOf } from './channel-state.ts'
import type { State } from './circuit-breaker.ts'

export interface PickedRoute {
  route: Route
  key: string
  channelState: ChannelState
  /** Other calls wait for the outcome of this one. */
  probe?: boolean
  /** Set where the conversation decided on the place. */
  affinity?: Affinity | undefined
  moved?: MoveReason | undefined
}

export interface RouteDeps {
  readonly random: () => number
  readonly clock: Clock
  readonly routing: { readonly states: Map<string, ChannelState> }
  readonly catalog: Pick<Catalog, 'hasManyAccounts'>
}

export interface Candidate extends PickedRoute {
  state: State
  keyState: State
}

/** Fast path without weighing: one channel, one key, no failures, a free slot. */
export function isHealthy(
  engine: RouteDeps,
  route: Route,
  accountId: string,
): Candidate | undefined {
  const { channel } = route
  const channelState = channelStateOf(engine.routing.states, channel.id)
  if (!channelState.isHealthy || channel.keys.length > 1) return undefined
  if (!hasPlace(engine.catalog, channel, channelState, accountId)) return undefined
  return candidateAt(engine, route)
}

/**
 * The same choice as that below, without an object for each channel, where all of the highest priority have
 * one key and no failures. Undefined where that is not so, or none of them has a free slot.
 */
export function pickHealthy(
  engine: RouteDeps,
  routes: readonly Route[],
  accountId: string,
): Candidate | undefined {
  const priority = routes[0]?.channel.priority
  let lowest = Number.POSITIVE_INFINITY
  let total = 0
  let min: Route[] = []
  for (const route of routes) {
    const { channel } = route
    if (channel.priority !== priority) break
    const channelState = channelStateOf(engine.routing.states, channel.id)
    const { isHealthy, hasAllPaths, busy } = channelState
    if (!isHealthy || !hasAllPaths || channel.keys.length > 1) return undefined
    const { weight } = channel
    const share = busy / weight
    if (weight <= 0 || share > lowest) continue
    if (!hasPlace(engine.catalog, channel, channelState, accountId)) continue
    if (share < lowest) {
      lowest = share
      total = 0
      min = []
    }
    total += weight
    min.push(route)
  }
  const [first] = min
  if (first === undefined) return undefined
  let left = engine.random() * total
  for (const route of min) {
    left -= route.channel.weight
    if (left < 0) return candidateAt(engine, route)
  }
  return candidateAt(engine, first)
}

/**
 * The same for a call of a conversation: where its last call went, or where its hash leads. Undefined
 * where channels have failures, or that one has no free slot.
 */
export function pickKept(
  engine: RouteDeps,
  routes: readonly Route[],
  accountId: string,
  placement: Placement,
): Candidate | undefined {
  const { last } = placement
  if (last === undefined) return pickByHash(engine, routes, accountId, placement)
  const route = routes.find(({ channel }) => channel.id === last.channelId)
  if (route === undefined) return undefined
  const { channel } = route
  const { priority, weight, keys } = channel
  if (priority !== routes[0]!.channel.priority || weight <= 0 || !isKept(channel)) return undefined
  if (keys.length > 1 && !keys.includes(last.key)) return undefined
  if (!isFree(engine, channel, accountId)) return undefined
  return candidateAt(engine, route, keys.length > 1 ? last.key : undefined)
}

/** Among all channels of the highest priority, without an object for each. */
function pickByHash(
  engine: RouteDeps,
  routes: readonly Route[],
  accountId: string,
  placement: Placement,
): Candidate | undefined {
  const priority = routes[0]?.channel.priority
  let best: Route | undefined
  let bestScore = -1
  let isAnyKept = false
  for (const route of routes) {
    const { channel } = route
    if (channel.priority !== priority) break
    const channelState = channelStateOf(engine.routing.states, channel.id)
    if (!channelState.isHealthy || !channelState.hasAllPaths) return undefined
    if (!hasPlace(engine.catalog, channel, channelState, accountId)) continue
    isAnyKept ||= isKept(channel)
    if (channel.weight <= 0) continue
    const score = placement.scoreOf(channel)
    if (score <= bestScore) continue
    best = route
    bestScore = score
  }
  if (best === undefined || !isAnyKept) return undefined
  if (best.channel.keys.length < 2) return candidateAt(engine, best)
  if (!isKept(best.channel)) return undefined
  const [key] = placement.keysOf(best.channel)
  return candidateAt(engine, best, key)
}

function isFree(engine: RouteDeps, channel: Route['channel'], accountId: string): boolean {
  const channelState = channelStateOf(engine.routing.states, channel.id)
  const { isHealthy, hasAllPaths } = channelState
  return isHealthy && hasAllPaths && hasPlace(engine.catalog, channel, channelState, accountId)
}

function candidateAt(engine: RouteDeps, route: Route, key = route.channel.keys[0]): Candidate {
  const channelState = channelStateOf(engine.routing.states, route.channel.id)
  return { route, key: key ?? '', channelState, state: 'good', keyState: 'good' }
}
