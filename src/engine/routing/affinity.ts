// Keeps the calls of a conversation at the channel and key that hold its prompt cache. Where a
// conversation goes follows from a hash of its identity, weighted rendezvous hashing: all workers and
// gateways choose alike without talking to each other, also after a restart, and over many
// conversations channels get their share by weight. The place of its last call is remembered for a
// while, so that a conversation that had to move stays where the newer cache is.
import type { Route } from '../../catalog/snapshot.ts'
import type { Channel, Token } from '../../contract/catalog.ts'
import type { ConversationIdentity, TextCall } from '../../contract/requests.ts'
import type { Clock } from '../../lib/clock.ts'

/** Conversations with a remembered place; beyond it the half unused for longest is forgotten. */
const maxConversations = 20_000
/** The longest usual lifetime of a prompt cache: after it there is nothing to go back to. */
const rememberedMs = 3_600_000
/** No usual upstream caches shorter prompts. */
const minCachedTokens = 256
/** More calls than any conversation has: many share its name or its beginning. */
const maxCallsPerMinute = 120

export interface Place {
  channelId: string
  key: string
}

interface LastPlace extends Place {
  usedMs: number
  /** Calls in the minute that began then. */
  minuteMs: number
  calls: number
}

export class Conversations {
  /** Used since the others became old; a map that forgets its first entries one by one is slow. */
  #recent = new Map<string, LastPlace>()
  #old = new Map<string, LastPlace>()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#recent.size + this.#old.size
  }

  /** Undefined where there is no choice, or nothing to keep together. */
  placementOf(
    routes: readonly Route[],
    { accountId, accountName }: Pick<Token, 'accountId' | 'accountName'>,
    { model, inputTokens, conversation }: Pick<TextCall, 'model' | 'inputTokens' | 'conversation'>,
  ): Placement | undefined {
    if (conversation === undefined || !isChoice(routes)) return undefined
    const identity = conversation()
    // By name, so that gateways with databases of their own choose alike.
    const scope = `${accountName}\n${model}\n${identity.by ?? ''}\n`
    const hash = Bun.hash.xxHash64(scope + identity.text)
    // Never shared by two accounts, even if the hashes are equal.
    const id = `${accountId} ${hash.toString(36)}`
    return new Placement(this, id, Number(hash & 0xffff_ffffn), identity, inputTokens)
  }

  find(id: string): Place | undefined {
    const place = this.#placeOf(id)
    if (place === undefined) return undefined
    return this.#clock.nowMs() - place.usedMs < rememberedMs ? place : undefined
  }

  /** One place would throttle its calls; spread, each place has the beginning in its cache. */
  isShared(id: string): boolean {
    const { calls = 0, minuteMs = 0 } = this.#placeOf(id) ?? {}
    return calls >= maxCallsPerMinute && this.#clock.nowMs() - minuteMs < 60_000
  }

  #placeOf(id: string): LastPlace | undefined {
    return this.#recent.get(id) ?? this.#old.get(id)
  }

  remember(id: string, channelId: string, key: string): void {
    const usedMs = this.#clock.nowMs()
    const { calls, minuteMs } = this.#placeOf(id) ?? { calls: 0, minuteMs: usedMs }
    const counted =
      usedMs - minuteMs < 60_000 ? { calls: calls + 1, minuteMs } : { calls: 1, minuteMs: usedMs }
    if (this.#recent.size >= maxConversations / 2 && !this.#recent.has(id)) {
      this.#old = this.#recent
      this.#recent = new Map()
    }
    this.#old.delete(id)
    this.#recent.set(id, { channelId, key, usedMs, ...counted })
  }
}

/**
 * A number from 0 to 1 that all calls of a conversation have in common; undefined: the call belongs to
 * none.
 */
export function shareOf(
  { accountName }: Pick<Token, 'accountName'>,
  { model, inputTokens, conversation }: Pick<TextCall, 'model' | 'inputTokens' | 'conversation'>,
): number | undefined {
  const identity = conversation?.()
  if (identity === undefined || !isConversation(identity.by, identity.isNew, inputTokens))
    return undefined
  const name = `${accountName}\n${model}\n${identity.by ?? ''}\n${identity.text}`
  return Bun.hash.xxHash32(name) / 2 ** 32
}

const isConversation = (by: string | undefined, isNew: boolean, inputTokens: number): boolean =>
  by !== undefined || !isNew || inputTokens >= minCachedTokens

const isChoice = (routes: readonly Route[]): boolean =>
  (routes.length > 1 || (routes[0]?.channel.keys.length ?? 0) > 1) && routes.some(goesToKept)

const goesToKept = ({ channel }: Route): boolean => isKept(channel)

export const isKept = ({ affinity }: Pick<Channel, 'affinity'>): boolean => affinity !== 'off'

/** One call of a conversation on its way to a channel and key. */
export class Placement {
  /** The field or header that named the conversation. */
  readonly by: string | undefined
  readonly isNew: boolean
  /**
   * Whether it decides where the call goes. The first call of a conversation without a name, with less
   * than is ever cached, is spread like calls that belong to none: many of these may be equal. So are
   * calls that too many have something in common with.
   */
  readonly steers: boolean
  readonly #conversations: Conversations
  readonly #id: string
  readonly #seed: number
  /** Where its last call went. */
  readonly last: Place | undefined

  constructor(
    conversations: Conversations,
    id: string,
    seed: number,
    { by, isNew }: ConversationIdentity,
    inputTokens: number,
  ) {
    this.by = by
    this.isNew = isNew
    this.steers = isConversation(by, isNew, inputTokens) && !conversations.isShared(id)
    this.#conversations = conversations
    this.#id = id
    this.#seed = seed
    this.last = conversations.find(id)
  }

  /** Where the cache should be: at the last place, else where the hash says. */
  expected(routes: readonly Route[]): Place {
    if (this.last !== undefined) return this.last
    const [first] = routes
    const top = routes.filter(
      ({ channel, translated }) =>
        channel.priority === first!.channel.priority && translated === first!.translated,
    )
    const channels = top.map(({ channel }) => channel).filter(({ weight }) => weight > 0)
    const channel = channels.length === 0 ? first!.channel : this.best(channels)
    const [key = ''] = this.keysOf(channel)
    return { channelId: channel.id, key }
  }

  /** One of some channels with a weight. */
  best(channels: readonly Channel[]): Channel {
    let best = channels[0]!
    let bestScore = -1
    for (const channel of channels) {
      if (channel.id === this.last?.channelId) return channel
      const score = this.scoreOf(channel)
      if (score <= bestScore) continue
      best = channel
      bestScore = score
    }
    return best
  }

  /** The keys of a channel, the preferred ones first. */
  *keysOf({ id, keys }: Channel): Generator<string> {
    const last = this.last?.channelId === id ? this.last.key : undefined
    if (last !== undefined && keys.includes(last)) yield last
    const scored = keys.map((key) => ({ key, score: this.#score(key, 1) }))
    for (const { key } of scored.sort((a, b) => b.score - a.score)) if (key !== last) yield key
  }

  wentTo(channelId: string, key: string): void {
    this.#conversations.remember(this.#id, channelId, key)
  }

  /** The channel with the highest score is where the conversation belongs. */
  scoreOf({ name, weight }: Pick<Channel, 'name' | 'weight'>): number {
    return this.#score(name, weight)
  }

  #score(name: string, weight: number): number {
    const share = (Bun.hash.xxHash32(name, this.#seed) + 0.5) / 2 ** 32
    return -weight / Math.log(share)
  }
}
