// The health of a channel for display: what calls and tests have shown since the gateway started.
import type { Channel } from '../../contract/catalog.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ChannelState } from './channel-state.ts'
import type { State } from './circuit-breaker.ts'

/** `good`, `probing` (the next call decides), `avoided`, `blocked` (gets no calls). */
type HealthWord = 'good' | 'probing' | 'avoided' | 'blocked'

export interface ChannelHealth {
  state: HealthWord
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
  return {
    state: wordFor[health?.stateAt(nowMs) ?? 'good'],
    failuresInRow: health?.failuresInRow ?? 0,
    ...(health !== undefined && health.untilMs > nowMs && { retryAtMs: health.untilMs }),
    busy: channelState?.busy ?? 0,
    keys: channel.keys.map((key) => wordFor[channelState?.keyState(key, nowMs) ?? 'good']),
    deniedModels: entitlements.deniedOn(channel.id),
  }
}
