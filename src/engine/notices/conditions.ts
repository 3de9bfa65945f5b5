// Watches what lasts for a while: channels that are down, keys that are rejected, tasks and requests
// that fail. Each is told when it begins; channels also when they have recovered. While it lasts there is
// an alert, but for keys. All but channels are watched only while a subscription asks for it.
import type { Catalog } from '../../catalog/snapshot.ts'
import type { Channel } from '../../contract/catalog.ts'
import { LoopService } from '../../lib/loop.ts'
import { type Condition, listConditions } from '../../store/deliveries/conditions.ts'
import { notify } from '../../store/deliveries/notices.ts'
import type { Tx } from '../../store/index.ts'
import type { Seals } from '../base-deps.ts'
import { downReason } from '../routing/channel-health.ts'
import type { ChannelState } from '../routing/channel-state.ts'
import { type ConditionDeps, ConditionRows, type Send } from './condition-rows.ts'
import { Failures } from './failures.ts'
import type { Subscriptions } from './subscriptions.ts'

const everyMs = 2_000
/** Between two looks at what has failed. */
const countEveryMs = 10_000

interface WatchDeps extends ConditionDeps, Seals {
  readonly catalog: Catalog
  readonly routing: { readonly states: ReadonlyMap<string, ChannelState> }
  readonly subscriptions: Pick<Subscriptions, 'wants' | 'rateRules'>
}

const reasonTexts = {
  circuit_open: 'its circuit is open: calls fail',
  keys_rejected: 'all its keys are rejected',
} as const

export class Conditions extends LoopService {
  readonly #deps: WatchDeps
  readonly #owner: string
  readonly #rows: ConditionRows
  readonly #failures: Failures
  /** What this gateway reports, by type and subject. */
  readonly #reported = new Set<string>()
  #countFromMs = 0
  #down: readonly Condition[] = []
  #readFromMs = 0

  constructor(deps: WatchDeps, owner: string) {
    const failure = 'conditions could not be watched for notices'
    super({ name: 'notice-conditions', everyMs, retryMs: everyMs, log: deps.log, failure })
    this.#deps = deps
    this.#owner = owner
    this.#rows = new ConditionRows(deps, owner)
    this.#failures = new Failures(deps, this.#rows)
  }

  protected override async run(): Promise<number> {
    if (this.#deps.store.healthy) await this.round()
    return everyMs
  }

  async round(): Promise<void> {
    await this.#watchChannels()
    if (performance.now() < this.#countFromMs) return
    this.#countFromMs = performance.now() + countEveryMs
    await this.#failures.round()
  }

  /** For an alert that a person resolves: false while what it is about lasts. */
  dismiss(tx: Tx, kind: string, subject: string): Promise<boolean> {
    return this.#rows.dismiss(tx, kind, subject)
  }

  async #watchChannels(): Promise<void> {
    const { catalog, routing, subscriptions, store } = this.#deps
    const known = await this.#downChannels()
    const areKeysWanted = subscriptions.wants('key.rejected')
    const knownKeys = areKeysWanted ? await listConditions(store.read, 'key.rejected') : []
    for (const channel of catalog.channels) {
      const state = routing.states.get(channel.id)
      if (areKeysWanted) await this.#watchKeys(channel, state, knownKeys)
      const reason = channel.disabled ? undefined : downReason(channel, state)
      if (reason !== undefined) {
        await this.#reportDown(channel, reasonTexts[reason])
        continue
      }
      const isOver = (channel.disabled || hasServed(state)) && isKnown(known, channel.id)
      const data = { channel: channel.name, reason: 'a call succeeded' }
      await this.#clear(this.#downOf(channel.id), isOver, async (tx, atMs) => {
        if (!channel.disabled) await notify(tx, { type: 'channel.recovered', atMs, data })
      })
    }
    for (const { subject } of known) {
      if (catalog.channels.some(({ id }) => id === subject)) continue
      // It was deleted.
      await this.#clear(this.#downOf(subject), true, async () => {})
    }
  }

  #downOf(subject: string): Condition {
    return { type: 'channel.down', subject, reporter: this.#owner }
  }

  /**
   * Those that any gateway reports; read less often while no subscription wants them. A gateway that is
   * alone reads them after its own changes only: a read starts a thread of the store and keeps it.
   */
  async #downChannels(): Promise<readonly Condition[]> {
    const { store, subscriptions } = this.#deps
    const isWanted = subscriptions.wants('channel.down', 'channel.recovered')
    if (!isWanted && performance.now() < this.#readFromMs) return this.#down
    this.#down = await listConditions(store.read, 'channel.down')
    const everyMs = store.cluster === undefined ? Number.POSITIVE_INFINITY : countEveryMs
    this.#readFromMs = performance.now() + everyMs
    return this.#down
  }

  async #reportDown(channel: Channel, reason: string): Promise<void> {
    const { id, name } = channel
    const data = { channel: name, reason }
    await this.#raise(
      this.#downOf(id),
      (tx, atMs) => notify(tx, { type: 'channel.down', atMs, data }),
      `channel '${name}' is down: ${reason}`,
    )
  }

  async #watchKeys(
    channel: Channel,
    state: ChannelState | undefined,
    known: readonly Condition[],
  ): Promise<void> {
    const rejected = state?.rejectedKeys(channel) ?? []
    for (const key of channel.keys) {
      const fingerprint = this.#deps.seal.hash(key).slice(0, 16)
      const subject = `${channel.id} ${fingerprint}`
      const condition: Condition = { type: 'key.rejected', subject, reporter: this.#owner }
      const data = { channel: channel.name, key: fingerprint }
      if (rejected.includes(key)) {
        await this.#raise(condition, (tx, atMs) => notify(tx, { type: 'key.rejected', atMs, data }))
      } else {
        await this.#clear(condition, hasServed(state) && isKnown(known, subject), async () => {})
      }
    }
  }

  async #raise(condition: Condition, send: Send, message?: string): Promise<void> {
    const name = `${condition.type} ${condition.subject}`
    if (this.#reported.has(name)) return
    this.#readFromMs = 0
    await this.#rows.begin(condition, send, message)
    this.#reported.add(name)
  }

  /** `evenOthers`: of gateways that are gone. */
  async #clear(condition: Condition, evenOthers: boolean, send: Send): Promise<void> {
    const name = `${condition.type} ${condition.subject}`
    if (!this.#reported.delete(name) && !evenOthers) return
    this.#readFromMs = 0
    await this.#rows.end(condition, { send })
  }
}

/** A gateway that is gone reports no end: one that has served by the channel does. */
const hasServed = (state: ChannelState | undefined): boolean => (state?.worked.size ?? 0) > 0

const isKnown = (conditions: readonly Condition[], id: string): boolean =>
  conditions.some(({ subject }) => subject === id)
