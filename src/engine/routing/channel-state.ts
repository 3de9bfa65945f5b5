// Runtime state of one channel: calls in flight, its health, the health of each key, and which
// models have worked. Survives configuration changes, not a restart.
import type { Channel } from '../../contract/catalog.ts'
import { type BreakerRules, CircuitBreaker, type State } from './circuit-breaker.ts'

const channelRules: BreakerRules = {
  avoidAfter: 3,
  blockAfter: 20,
  firstMs: 2_000,
  maxMs: 30_000,
}
const keyRules: BreakerRules = {
  avoidAfter: 1,
  blockAfter: 20,
  firstMs: 5_000,
  maxMs: 300_000,
}

/** What the newest call counts in the average of first bytes. */
const newestShare = 0.2

interface PickedKey {
  key: string
  state: State
}

/** A key with failures, and the kind of the last one. */
class KeyBreaker extends CircuitBreaker {
  /** Throttled, as opposed to refused. */
  throttled = false

  constructor() {
    super(keyRules)
  }
}

/** An upstream without authentication gets an empty key. */
const noKeys: readonly string[] = ['']
const keysOf = ({ keys }: Channel): readonly string[] => (keys.length === 0 ? noKeys : keys)

export class ChannelState {
  /** Calls in flight, in total and by account. */
  busy = 0
  readonly #places = new Map<string, number>()
  readonly health = new CircuitBreaker(channelRules)
  /** Models that have worked; a later refusal of one may be transient. */
  readonly worked = new Set<string>()
  /** Keys with failures. */
  readonly #keys = new Map<string, KeyBreaker>()
  /** Protocols whose path the upstream does not have, each with the time until which it is avoided. */
  readonly #missingUntilMs = new Map<string, number>()
  /** Time to the first byte of models that are routed by it: each a moving average. */
  #firstByteMs: Map<string, number> | undefined
  #turn = 0

  placesOf(accountId: string): number {
    return this.#places.get(accountId) ?? 0
  }

  take(accountId: string): void {
    this.busy++
    this.#places.set(accountId, this.placesOf(accountId) + 1)
  }

  leave(accountId: string): void {
    this.busy--
    const left = this.placesOf(accountId) - 1
    if (left > 0) this.#places.set(accountId, left)
    else this.#places.delete(accountId)
  }

  /** Newer calls count more. */
  noteFirstByte(upstreamModel: string, ms: number): void {
    this.#firstByteMs ??= new Map()
    const before = this.#firstByteMs.get(upstreamModel) ?? ms
    this.#firstByteMs.set(upstreamModel, before + newestShare * (ms - before))
  }

  /** Undefined: no call of this model has succeeded here. */
  firstByteMs(upstreamModel: string): number | undefined {
    return this.#firstByteMs?.get(upstreamModel)
  }

  /** The upstream does not have the path of this protocol; it may have those of others. */
  missPath(protocol: string, untilMs: number): void {
    this.#missingUntilMs.set(protocol, untilMs)
  }

  foundPath(protocol: string): void {
    if (this.#missingUntilMs.size > 0) this.#missingUntilMs.delete(protocol)
  }

  pathState(protocol: string, nowMs: number): State {
    const untilMs = this.#missingUntilMs.get(protocol) ?? 0
    return nowMs < untilMs ? 'avoided' : 'good'
  }

  /** The upstream is not known to lack the path of any protocol. */
  get hasAllPaths(): boolean {
    return this.#missingUntilMs.size === 0
  }

  /** Neither it nor any of its keys has failures. */
  get isHealthy(): boolean {
    return this.health.untilMs === 0 && this.#keys.size === 0
  }

  /**
   * The first healthy key, in rotation unless another order is given, else the first that is not blocked;
   * `took` advances the rotation.
   */
  pickKey(
    channel: Channel,
    nowMs: number,
    tried?: (key: string) => boolean,
    order?: Iterable<string>,
  ): PickedKey {
    const keys = keysOf(channel)
    if (this.#keys.size === 0 && tried === undefined && keys.length === 1) {
      return { key: keys[0]!, state: 'good' }
    }
    let best: PickedKey = { key: '', state: 'blocked' }
    for (const key of order ?? this.#inTurn(keys)) {
      if (tried?.(key)) continue
      const state = this.keyState(key, nowMs)
      if (state === 'good' || state === 'probe') return { key, state }
      if (best.state === 'blocked' && state === 'avoided') best = { key, state }
    }
    return best
  }

  *#inTurn(keys: readonly string[]): Generator<string> {
    for (let i = 0; i < keys.length; i++) yield keys[(this.#turn + i) % keys.length]!
  }

  /** That key got the call. A key that was only considered keeps its position. */
  took({ keys }: Channel, key: string): void {
    if (keys.length > 1) this.#turn = keys.indexOf(key) + 1
  }

  keyBreaker(key: string): KeyBreaker {
    const known = this.#keys.get(key)
    if (known !== undefined) return known
    const made = new KeyBreaker()
    this.#keys.set(key, made)
    return made
  }

  dropKeyProbe(key: string): void {
    if (this.#keys.size > 0) this.#keys.get(key)?.dropProbe()
  }

  keySucceeded(channel: Channel, key: string): void {
    if (this.#keys.size === 0) return
    this.#keys.delete(key)
    // A replaced key is never used again; its history must not affect the others.
    for (const other of this.#keys.keys()) {
      if (!keysOf(channel).includes(other)) this.#keys.delete(other)
    }
  }

  /** When the first of its keys may be used again. */
  keysUntilMs(channel: Channel): number {
    return Math.min(...keysOf(channel).map((key) => this.#keys.get(key)?.untilMs ?? 0))
  }

  /** Keys that the upstream has refused since they last worked. */
  rejectedKeys({ keys }: Channel): string[] {
    return keys.filter((key) => {
      const breaker = this.#keys.get(key)
      return breaker !== undefined && !breaker.throttled && breaker.untilMs > 0
    })
  }

  /** Every key is throttled, and no pause is over. */
  throttledAt(channel: Channel, nowMs: number): boolean {
    return keysOf(channel).every((key) => {
      const channelState = this.#keys.get(key)
      return channelState?.throttled === true && channelState.untilMs > nowMs
    })
  }

  keyState(key: string, nowMs: number): State {
    return this.#keys.get(key)?.stateAt(nowMs) ?? 'good'
  }

  /** A successful test clears the history. */
  reset(): void {
    this.health.reset()
    this.#keys.clear()
  }
}

export function channelStateOf(channelStates: Map<string, ChannelState>, id: string): ChannelState {
  const known = channelStates.get(id)
  if (known !== undefined) return known
  const made = new ChannelState()
  channelStates.set(id, made)
  return made
}
