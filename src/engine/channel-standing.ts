// What is known of one channel while the gateway runs: calls under way, its health, the health of
// each key, and which models have worked. Outlives changes of the configuration, not a restart.
import type { Channel } from '../contract/catalog.ts'
import { Standing, type StandingRules, type State } from './standing.ts'

const channelRules: StandingRules = {
  avoidAfter: 3,
  blockAfter: 20,
  firstMs: 2_000,
  longestMs: 30_000,
}
const keyRules: StandingRules = {
  avoidAfter: 1,
  blockAfter: 20,
  firstMs: 5_000,
  longestMs: 300_000,
}

export interface PickedKey {
  key: string
  state: State
}

export class ChannelStanding {
  busy = 0
  readonly health = new Standing(channelRules)
  /** Models that have been answered; a later refusal of one of them may be a hiccup. */
  readonly worked = new Set<string>()
  /** Keys that had trouble. */
  readonly #keys = new Map<string, Standing>()
  #turn = 0

  /** Neither it nor any of its keys has had trouble. */
  get calm(): boolean {
    return this.health.untilMs === 0 && this.#keys.size === 0
  }

  /** The next key in turn that is not in trouble, else the one with the least; undefined if none. */
  pickKey({ keys }: Channel, nowMs: number, tried?: (key: string) => boolean): PickedKey {
    if (this.#keys.size === 0 && tried === undefined && keys.length <= 1) {
      return { key: keys[0] ?? '', state: 'good' }
    }
    let best: PickedKey = { key: '', state: 'blocked' }
    const turn = this.#turn++
    for (let i = 0; i < keys.length; i++) {
      const key = keys[(turn + i) % keys.length]!
      if (tried?.(key)) continue
      const state = this.#keys.get(key)?.stateAt(nowMs) ?? 'good'
      if (state === 'good' || state === 'probe') return { key, state }
      if (best.state === 'blocked' && state === 'avoided') best = { key, state }
    }
    return best
  }

  keyStanding(key: string): Standing {
    const known = this.#keys.get(key)
    if (known !== undefined) return known
    const made = new Standing(keyRules)
    this.#keys.set(key, made)
    return made
  }

  dropKeyProbe(key: string): void {
    if (this.#keys.size > 0) this.#keys.get(key)?.dropProbe()
  }

  keySucceeded(key: string): void {
    if (this.#keys.size > 0) this.#keys.delete(key)
  }

  /** When the first of its keys may be asked again. */
  keysUntilMs({ keys }: Channel): number {
    return Math.min(...keys.map((key) => this.#keys.get(key)?.untilMs ?? 0))
  }

  keyState(key: string, nowMs: number): State {
    return this.#keys.get(key)?.stateAt(nowMs) ?? 'good'
  }

  /** A test went well: the past is forgotten. */
  reset(): void {
    this.health.reset()
    this.#keys.clear()
  }
}

export function standingOf(standings: Map<string, ChannelStanding>, id: string): ChannelStanding {
  const known = standings.get(id)
  if (known !== undefined) return known
  const made = new ChannelStanding()
  standings.set(id, made)
  return made
}
