// Picks the channel for a call: the highest priority that is healthy and has room for its account,
// the least busy for its weight among equals, and the next of its keys in rotation.
import type { Catalog, Route } from '../../catalog/snapshot.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { hasPlace } from './channel-places.ts'
import { type ChannelState, channelStateOf } from './channel-state.ts'
import type { State } from './circuit-breaker.ts'

export interface PickedRoute {
  route: Route
  key: string
  channelState: ChannelState
  /** Other calls wait for the outcome of this one. */
  probe?: boolean
}

/** What a call has already tried: channels, and keys of channels. */
export class Tried {
  readonly #all = new Set<string>()

  addChannel(id: string): void {
    this.#all.add(id)
  }

  addKey(id: string, key: string): void {
    this.#all.add(`${id}\n${key}`)
  }

  hasChannel = (id: string): boolean => this.#all.has(id)

  hasKey = (id: string, key: string): boolean => this.#all.has(`${id}\n${key}`)
}

export interface RouteDeps {
  readonly random: () => number
  readonly clock: Clock
  readonly routing: { readonly states: Map<string, ChannelState> }
  readonly catalog: Pick<Catalog, 'hasManyAccounts'>
}

interface Candidate extends PickedRoute {
  state: State
  keyState: State
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
): PickedRoute | 'full' | Refusal {
  if (!routes.at(-1)?.translated) return pickAmong(engine, routes, accountId, tried)
  const own = routes.filter(({ translated }) => !translated)
  const picked = own.length === 0 ? undefined : pickAmong(engine, own, accountId, tried)
  if (picked !== undefined && !(picked instanceof Refusal)) return picked
  const others = routes.filter(({ translated }) => translated)
  const other = pickAmong(engine, others, accountId, tried)
  return other instanceof Refusal ? (picked ?? other) : other
}

function pickAmong(
  engine: RouteDeps,
  routes: readonly Route[],
  accountId: string,
  tried?: Tried,
): PickedRoute | 'full' | Refusal {
  const nowMs = engine.clock.nowMs()
  const isPlain = tried === undefined && routes.length === 1
  const only = isPlain ? isHealthy(engine, routes[0]!, accountId) : undefined
  if (only !== undefined) return only
  const able: Candidate[] = []
  let full = false
  let goodIsFull = false
  for (const route of routes) {
    const { channel } = route
    if (tried?.hasChannel(channel.id)) continue
    const channelState = channelStateOf(engine.routing.states, channel.id)
    const hasKey = tried && ((key: string) => tried.hasKey(channel.id, key))
    const { key, state: keyState } = channelState.pickKey(channel, nowMs, hasKey)
    const state = worse(channelState.health.stateAt(nowMs), keyState)
    if (state === 'blocked') continue
    // A retry is only worth it at a healthy channel.
    if (state === 'avoided' && tried !== undefined) continue
    if (!hasPlace(engine.catalog, channel, channelState, accountId)) {
      full = true
      goodIsFull ||= state === 'good'
    } else able.push({ route, key, channelState, state, keyState })
  }
  const well = able.filter(({ state }) => state !== 'avoided')
  // A short wait for a healthy channel serves a caller better than one that has just failed.
  if (well.length === 0 && goodIsFull) return 'full'
  const picked = best(engine, well.length > 0 ? well : able)
  if (picked === undefined) return full ? 'full' : unavailable(engine, routes, nowMs)
  const { route, channelState, key, keyState } = picked
  channelState.took(route.channel, key)
  const probesChannel = channelState.health.stateAt(nowMs) === 'probe'
  if (probesChannel) channelState.health.beginProbe()
  if (keyState === 'probe') channelState.keyBreaker(key).beginProbe()
  return probesChannel || keyState === 'probe' ? { ...picked, probe: true } : picked
}

/** Fast path without weighing: one channel, one key, no failures, a free slot. */
function isHealthy(engine: RouteDeps, route: Route, accountId: string): PickedRoute | undefined {
  const { channel } = route
  const channelState = channelStateOf(engine.routing.states, channel.id)
  if (!channelState.isHealthy || channel.keys.length > 1) return undefined
  if (!hasPlace(engine.catalog, channel, channelState, accountId)) return undefined
  return { route, key: channel.keys[0] ?? '', channelState }
}

const rank: Readonly<Record<State, number>> = { good: 0, probe: 1, avoided: 2, blocked: 3 }
const worse = (a: State, b: State): State => (rank[a] >= rank[b] ? a : b)

function best(engine: RouteDeps, able: readonly Candidate[]): Candidate | undefined {
  const first = able[0]
  if (first === undefined || able.length === 1) return first
  const { priority } = first.route.channel
  const top = able.filter(({ route }) => route.channel.priority === priority)
  const wanted = top.filter(({ route }) => route.channel.weight > 0)
  return wanted.length === 0 ? first : byWeight(engine, leastBusy(wanted))
}

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
