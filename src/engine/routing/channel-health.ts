// The health of a channel for display: what calls and tests have shown since the gateway started.
import type { Channel } from '../../contract/catalog.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ChannelState } from './channel-state.ts'
import type { State } from './circuit-breaker.ts'

/** `good`, `probing` (the next call decides), `avoided`, `blocked` (gets no calls). */
type HealthWord = 'good' | 'probing' | 'avoided' | 'blocked'

/** Why a channel is down: its calls fail, or every key of it is refused. */
type DownReason = 'circuit_open' | 'keys_rejected'

export interface ChannelHealth {
  state: HealthWord
  /** Undefined while it is not down. */
  reason?: DownReason
  failuresInRow: number
  /** When it is tried again; undefined while it is healthy. */
  retryAtMs?: number
  busy: number
  /** One for each key, in their order. */
  keys: HealthWord[]
  /** Models that its account is not entitled to. */
  deniedModels: string[]
}

export interface HealthDeps {
  readonly clock: Clock
  readonly routing: { readonly states: ReadonlyMap<string, ChannelState> }
  readonly entitlements: { deniedOn(channelId: string): string[] }
}

const wordFor: Readonly<Record<State, HealthWord>> = {
  good: 'good',
  probe: 'probing',
  avoided: 'avoided',
  blocked: 'blocked',
}

export function healthOf(
  { clock, routing, entitlements }: HealthDeps,
  channel: Channel,
): ChannelHealth {
  const nowMs = clock.nowMs()
  const channelState = routing.states.get(channel.id)
  const health = channelState?.health
  const keys = channel.keys.map((key) => wordFor[channelState?.keyState(key, nowMs) ?? 'good'])
  const reason = downReason(channel, channelState)
  return {
    // Without a usable key, a reachable upstream serves nothing.
    state: worse(wordFor[health?.stateAt(nowMs) ?? 'good'], bestOf(keys)),
    ...(reason !== undefined && { reason }),
    failuresInRow: health?.failuresInRow ?? 0,
    ...(health !== undefined && health.untilMs > nowMs && { retryAtMs: health.untilMs }),
    busy: channelState?.busy ?? 0,
    keys,
    deniedModels: entitlements.deniedOn(channel.id),
  }
}

/** From the best to the worst. */
const order: readonly HealthWord[] = ['good', 'probing', 'avoided', 'blocked']
const rank = (word: HealthWord): number => order.indexOf(word)

const worse = (a: HealthWord, b: HealthWord): HealthWord => (rank(a) > rank(b) ? a : b)

/** A channel without keys needs none. */
const bestOf = (keys: readonly HealthWord[]): HealthWord =>
  keys.length === 0 ? 'good' : order.find((word) => keys.includes(word))!

export function downReason(
  channel: Channel,
  state: ChannelState | undefined,
): DownReason | undefined {
  if (state === undefined) return undefined
  if (state.health.untilMs !== 0) return 'circuit_open'
  const { length } = channel.keys
  return length > 0 && state.rejectedKeys(channel).length === length ? 'keys_rejected' : undefined
}
