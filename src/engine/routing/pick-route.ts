// Picks the channel for a call: the highest priority that is healthy and has room for its account.
// Among equals, the one that its conversation is kept at; else the least busy for its weight, and the
// next of its keys in rotation.
import type { Route } from '../../catalog/snapshot.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { MoveReason } from '../../contract/requests.ts'
import { isKept, type Place, type Placement } from './affinity.ts'
import { hasPlace } from './channel-places.ts'
import { channelStateOf } from './channel-state.ts'
import type { State } from './circuit-breaker.ts'
import {
  type Candidate,
  isHealthy,
  type PickedRoute,
  pickHealthy,
  pickKept,
  type RouteDeps,
} from './healthy-route.ts'

export type { PickedRoute, RouteDeps } from './healthy-route.ts'

/** What a call has already tried: channels, and keys of channels. */
export class Tried {
  readonly #all = new Set<string>()
  /** Something was sent there, so that the next attempt is a retry. */
  isRetry = false

  addChannel(id: string): void {
    this.#all.add(id)
    this.isRetry = true
  }

  /** The call cannot be translated for it: nothing was sent. */
  addUnable(id: string): void {
    this.#all.add(id)
  }

  addKey(id: string, key: string): void {
    this.#all.add(`${id}\n${key}`)
    this.isRetry = true
  }

  hasChannel = (id: string): boolean => this.#all.has(id)

  hasKey = (id: string, key: string): boolean => this.#all.has(`${id}\n${key}`)
}

/** A call that wants a route. */
interface Wanted {
  accountId: string
  tried: Tried | undefined
  /** Undefined: it belongs to no conversation, or there is no choice. */
  placement: Placement | undefined
  nowMs: number
}

/**
 * `full`: all that could serve it have no free slot, so waiting may help. A call is translated only
 * when no channel that speaks its style can be called.
 */
export function pickRoute(
  engine: RouteDeps,
  routes: readonly Route[],
  accountId: string,
  tried?: Tried,
  placement?: Placement,
): PickedRoute | 'full' | Refusal {
  const wanted = { accountId, tried, placement, nowMs: engine.clock.nowMs() }
  const there = withPaths(engine, routes, wanted.nowMs)
  const picked = pickByStyle(engine, there, wanted)
  if (picked === 'full' || picked instanceof Refusal) return picked
  if (placement === undefined) return begun(picked, wanted)
  const steered = placement.steers && isKept(picked.route.channel)
  const noted = steered ? { ...picked, ...noteOn(engine, there, picked, wanted) } : picked
  placement.wentTo(picked.route.channel.id, picked.key)
  return begun(noted, wanted)
}

/** Where an upstream does not have the path of a protocol, another protocol of its channel is used. */
function withPaths(engine: RouteDeps, routes: readonly Route[], nowMs: number): readonly Route[] {
  for (const route of routes) {
    if (route.fallback !== undefined && !isThere(engine, route, nowMs)) {
      return byOtherPaths(engine, routes, nowMs)
    }
  }
  return routes
}

const isThere = ({ routing }: RouteDeps, { channel, protocol }: Route, nowMs: number): boolean =>
  channelStateOf(routing.states, channel.id).pathState(protocol, nowMs) === 'good'

function byOtherPaths(engine: RouteDeps, routes: readonly Route[], nowMs: number): Route[] {
  const found = routes.map((route) => {
    let other: Route | undefined = route
    while (other !== undefined && !isThere(engine, other, nowMs)) other = other.fallback
    return other ?? route
  })
  const byStyle = (route: Route) => (route.translated ? 1 : 0)
  return found.sort((a, b) => byStyle(a) - byStyle(b) || b.channel.priority - a.channel.priority)
}

function pickByStyle(
  engine: RouteDeps,
  routes: readonly Route[],
  wanted: Wanted,
): Candidate | 'full' | Refusal {
  if (!routes.at(-1)?.translated) return pickAmong(engine, routes, wanted)
  const own = routes.filter(({ translated }) => !translated)
  const picked = own.length === 0 ? undefined : pickAmong(engine, own, wanted)
  if (picked !== undefined && !(picked instanceof Refusal)) return picked
  const others = routes.filter(({ translated }) => translated)
  const other = pickAmong(engine, others, wanted)
  return other instanceof Refusal ? (picked ?? other) : other
}

function pickAmong(
  engine: RouteDeps,
  routes: readonly Route[],
  wanted: Wanted,
): Candidate | 'full' | Refusal {
  const { accountId, tried, nowMs } = wanted
  const isPlain = tried === undefined && routes.length === 1
  const only = isPlain ? isHealthy(engine, routes[0]!, accountId) : undefined
  if (only !== undefined) return only
  const plain = tried === undefined ? pickPlain(engine, routes, wanted) : undefined
  if (plain !== undefined) return plain
  const able: Candidate[] = []
  let full = false
  let goodIsFull = false
  for (const route of routes) {
    const { channel } = route
    if (tried?.hasChannel(channel.id)) continue
    const channelState = channelStateOf(engine.routing.states, channel.id)
    const { key, state: keyState } = channelState.pickKey(channel, nowMs, triedAt(channel, tried))
    const health = worse(channelState.health.stateAt(nowMs), keyState)
    const state = worse(health, channelState.pathState(route.protocol, nowMs))
    if (state === 'blocked') continue
    // A retry is only worth it at a healthy channel.
    if (state === 'avoided' && tried?.isRetry) continue
    if (!hasPlace(engine.catalog, channel, channelState, accountId)) {
      full = true
      goodIsFull ||= state === 'good'
    } else able.push({ route, key, channelState, state, keyState })
  }
  const well = able.filter(({ state }) => state !== 'avoided')
  // A short wait for a healthy channel serves a caller better than one that has just failed.
  if (well.length === 0 && goodIsFull) return 'full'
  const picked = best(engine, well.length > 0 ? well : able, wanted)
  return picked ?? (full ? 'full' : unavailable(engine, routes, nowMs))
}

function pickPlain(
  engine: RouteDeps,
  routes: readonly Route[],
  { accountId, placement }: Wanted,
): Candidate | undefined {
  if (isByLatency(routes[0], placement)) return undefined
  return placement?.steers
    ? pickKept(engine, routes, accountId, placement)
    : pickHealthy(engine, routes, accountId)
}

/** A conversation that has begun stays where its cache is. */
const isByLatency = (route: Route | undefined, placement: Placement | undefined): boolean =>
  route?.byLatency === true && !(placement?.steers && !placement.isNew)

const triedAt = ({ id }: Route['channel'], tried: Tried | undefined) =>
  tried && ((key: string) => tried.hasKey(id, key))

/** The call goes there: a key that was only considered keeps its turn. */
function begun(picked: Candidate, { nowMs }: Wanted): PickedRoute {
  const { route, channelState, key, keyState } = picked
  if (picked.affinity === undefined) channelState.took(route.channel, key)
  const probesChannel = channelState.health.stateAt(nowMs) === 'probe'
  if (probesChannel) channelState.health.beginProbe()
  if (keyState === 'probe') channelState.keyBreaker(key).beginProbe()
  return probesChannel || keyState === 'probe' ? { ...picked, probe: true } : picked
}

/** Whether the conversation was kept where its cache is, and why not. */
function noteOn(
  engine: RouteDeps,
  routes: readonly Route[],
  { route, key }: PickedRoute,
  wanted: Wanted,
): Pick<PickedRoute, 'affinity' | 'moved'> {
  const placement = wanted.placement!
  if (placement.isNew) return { affinity: 'new' }
  const expected = placement.expected(routes)
  if (expected.channelId === route.channel.id && expected.key === key) return { affinity: 'kept' }
  return { affinity: 'moved', moved: reasonFor(engine, routes, expected, wanted) }
}

function reasonFor(
  { routing, catalog }: RouteDeps,
  routes: readonly Route[],
  { channelId, key }: Place,
  { accountId, tried, nowMs }: Wanted,
): MoveReason {
  const channel = routes.find((route) => route.channel.id === channelId)?.channel
  if (channel === undefined || (key !== '' && !channel.keys.includes(key))) return 'gone'
  if (tried?.hasChannel(channelId) || tried?.hasKey(channelId, key)) return 'failed'
  const channelState = channelStateOf(routing.states, channelId)
  if (channelState.health.stateAt(nowMs) !== 'good') return 'unhealthy'
  if (channelState.keyState(key, nowMs) !== 'good') {
    return channelState.keyBreaker(key).throttled ? 'throttled' : 'rejected'
  }
  return hasPlace(catalog, channel, channelState, accountId) ? 'priority' : 'full'
}

const rank: Readonly<Record<State, number>> = { good: 0, probe: 1, avoided: 2, blocked: 3 }
const worse = (a: State, b: State): State => (rank[a] >= rank[b] ? a : b)

function best(
  engine: RouteDeps,
  able: readonly Candidate[],
  wanted: Wanted,
): Candidate | undefined {
  const [first] = able
  if (first === undefined) return undefined
  const { priority } = first.route.channel
  const top = able.filter(({ route }) => route.channel.priority === priority)
  const weighted = top.filter(({ route }) => route.channel.weight > 0)
  const { placement } = wanted
  const isFast = isByLatency(first.route, placement)
  if (!isFast && placement?.steers && top.some(({ route }) => isKept(route.channel))) {
    return keptAt(weighted.length === 0 ? top.slice(0, 1) : weighted, placement, wanted)
  }
  if (able.length === 1 || weighted.length === 0) return first
  if (isFast && engine.random() >= exploredShare) return lowestLatency(weighted)
  return byWeight(engine, leastBusy(weighted))
}

/** Where the conversation belongs, with the key that it belongs to if that can be used. */
function keptAt(
  able: readonly Candidate[],
  placement: Placement,
  { tried, nowMs }: Wanted,
): Candidate {
  const channel = placement.best(able.map(({ route }) => route.channel))
  const kept = able.find(({ route }) => route.channel === channel)!
  if (!isKept(channel) || channel.keys.length < 2) return kept
  const { channelState } = kept
  const order = placement.keysOf(channel)
  const { key, state } = channelState.pickKey(channel, nowMs, triedAt(channel, tried), order)
  return { ...kept, key, keyState: state }
}

/** Calls that are spread as without measurements, so that a channel which has become faster is found. */
const exploredShare = 0.05

/**
 * Where the first byte is expected first: its usual time, for each call that is there already. A channel that
 * was not measured yet counts as faster than all, so that it is measured with its first calls.
 */
function lowestLatency(able: readonly Candidate[]): Candidate {
  const known = able.flatMap((each) => firstByteMs(each) ?? [])
  const fastest = Math.min(...known)
  const expected = (each: Candidate): number =>
    ((firstByteMs(each) ?? (known.length === 0 ? 1 : fastest / 2)) + 1) *
    ((each.channelState.busy + 1) / each.route.channel.weight)
  return able.reduce((best, each) => (expected(each) < expected(best) ? each : best))
}

const firstByteMs = ({ channelState, route }: Candidate): number | undefined =>
  channelState.firstByteMs(route.upstreamModel)

const load = ({ channelState, route }: Candidate): number =>
  channelState.busy / route.channel.weight

function leastBusy(able: readonly Candidate[]): readonly Candidate[] {
  const lowest = Math.min(...able.map(load))
  return able.filter((each) => load(each) === lowest)
}

function byWeight(engine: RouteDeps, able: readonly Candidate[]): Candidate {
  const total = able.reduce((sum, { route }) => sum + route.channel.weight, 0)
  let left = engine.random() * total
  for (const each of able) {
    left -= each.route.channel.weight
    if (left < 0) return each
  }
  return able[0]!
}

/** No channel may be called now. When every key is throttled, the caller gets that error. */
function unavailable(engine: RouteDeps, routes: readonly Route[], nowMs: number): Refusal {
  let minMs = Number.POSITIVE_INFINITY
  let throttled = routes.length > 0
  for (const { channel } of routes) {
    const channelState = channelStateOf(engine.routing.states, channel.id)
    const keysMs = channelState.keysUntilMs(channel)
    const healthMs = channelState.health.untilMs
    if (healthMs > nowMs || !channelState.throttledAt(channel, nowMs)) throttled = false
    minMs = Math.min(minMs, Math.max(keysMs, healthMs))
  }
  const waitMs = Number.isFinite(minMs) ? minMs - nowMs : 0
  const retryAfterSeconds = Math.min(600, Math.max(1, Math.ceil(waitMs / 1000)))
  return throttled
    ? refuse('upstream_rate_limited', 'the upstream has asked for a pause', { retryAfterSeconds })
    : refuse('no_available_channel', 'no channel can serve this model at the moment', {
        retryAfterSeconds,
      })
}
