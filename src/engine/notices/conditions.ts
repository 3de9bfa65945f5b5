// Watches what lasts for a while: channels that are down, keys that are rejected, tasks and requests
// that fail. Each is told when it begins; channels also when they have recovered, and while one is down
// there is an alert. All but channels are watched only while a subscription asks for it.
import type { Catalog } from '../../catalog/snapshot.ts'
import type { Channel } from '../../contract/catalog.ts'
import type { NoticeType } from '../../contract/notices/webhooks.ts'
import { LoopService } from '../../lib/loop.ts'
import { raiseAlert, resolveAlerts } from '../../store/catalog/alerts.ts'
import {
  type Condition,
  clearCondition,
  countErrors,
  countTaskFailures,
  listConditions,
  raiseCondition,
} from '../../store/deliveries/conditions.ts'
import { notify, notifyThese } from '../../store/deliveries/notices.ts'
import type { Tx } from '../../store/index.ts'
import { listGateways } from '../../store/maintenance/gateways.ts'
import type { BaseDeps, Seals } from '../base-deps.ts'
import { downReason } from '../routing/channel-health.ts'
import type { ChannelState } from '../routing/channel-state.ts'
import type { Subscriptions } from './subscriptions.ts'

const everyMs = 2_000
/** Between two looks at what has failed. */
const countEveryMs = 10_000
const taskWindowMs = 600_000
const maxTaskAgeMs = 48 * 3_600_000
const minTasks = 10
const failedShare = 0.5

interface ConditionDeps extends BaseDeps, Seals {
  readonly catalog: Catalog
  readonly routing: { readonly states: ReadonlyMap<string, ChannelState> }
  readonly subscriptions: Pick<Subscriptions, 'wants' | 'rateRules'>
  readonly jobs: { readonly notices: { wake(): void } }
}

const counted = ['task.failures', 'error_rate'] as const satisfies readonly NoticeType[]

/** The kind of the alert of a channel that is down; its subject is the channel's id. */
const kind = 'channel_down'

const reasonTexts = {
  circuit_open: 'its circuit is open: calls fail',
  keys_rejected: 'all its keys are rejected',
} as const

export class Conditions extends LoopService {
  readonly #deps: ConditionDeps
  readonly #owner: string
  /** What this gateway reports, by type and subject. */
  readonly #reported = new Set<string>()
  #countFromMs = 0
  #down: readonly Condition[] = []
  #readFromMs = 0

  constructor(deps: ConditionDeps, owner: string) {
    const failure = 'conditions could not be watched for notices'
    super({ name: 'notice-conditions', everyMs, retryMs: everyMs, log: deps.log, failure })
    this.#deps = deps
    this.#owner = owner
  }

  protected override async run(): Promise<number> {
    if (this.#deps.store.healthy) await this.round()
    return everyMs
  }

  async round(): Promise<void> {
    const { subscriptions } = this.#deps
    await this.#watchChannels()
    if (!subscriptions.wants(...counted) || performance.now() < this.#countFromMs) return
    this.#countFromMs = performance.now() + countEveryMs
    if (subscriptions.wants('task.failures')) await this.#watchTasks()
    if (subscriptions.wants('error_rate')) await this.#watchErrors()
  }

  async #watchChannels(): Promise<void> {
    const { catalog, routing, subscriptions } = this.#deps
    const known = await this.#downChannels()
    for (const channel of catalog.channels) {
      const state = routing.states.get(channel.id)
      const rejected = state?.rejectedKeys(channel) ?? []
      if (subscriptions.wants('key.rejected')) {
        for (const key of channel.keys) await this.#watchKey(channel, key, rejected.includes(key))
      }
      const reason = channel.disabled ? undefined : downReason(channel, state)
      if (reason !== undefined) {
        await this.#reportDown(channel, reasonTexts[reason])
        continue
      }
      // A gateway that is gone reports no end: one that has served by the channel does.
      const isOrphan = state !== undefined && state.worked.size > 0 && isKnown(known, channel.id)
      const isOver = isOrphan || (channel.disabled && isKnown(known, channel.id))
      const data = { channel: channel.name, reason: 'a call succeeded' }
      await this.#clear(this.#downOf(channel.id), isOver, async (tx, atMs) => {
        await resolveAlerts(tx, kind, channel.id, atMs)
        if (!channel.disabled) await notify(tx, { type: 'channel.recovered', atMs, data })
      })
    }
    for (const { subject } of known) {
      if (catalog.channels.some(({ id }) => id === subject)) continue
      // It was deleted.
      await this.#clear(this.#downOf(subject), true, async (tx, atMs) => {
        await resolveAlerts(tx, kind, subject, atMs)
      })
    }
  }

  #downOf(subject: string): Condition {
    return { type: 'channel.down', subject, reporter: this.#owner }
  }

  /** Those that any gateway reports; read less often while no subscription wants them. */
  async #downChannels(): Promise<readonly Condition[]> {
    const { store, subscriptions } = this.#deps
    const isWanted = subscriptions.wants('channel.down', 'channel.recovered')
    if (!isWanted && performance.now() < this.#readFromMs) return this.#down
    this.#readFromMs = performance.now() + countEveryMs
    this.#down = await listConditions(store.read, 'channel.down')
    return this.#down
  }

  async #reportDown(channel: Channel, reason: string): Promise<void> {
    const { id, name } = channel
    await this.#raise(this.#downOf(id), async (tx, atMs) => {
      const message = `channel '${name}' is down: ${reason}`
      await raiseAlert(tx, { kind, subject: id, message, atMs })
      await notify(tx, { type: 'channel.down', atMs, data: { channel: name, reason } })
    })
  }

  async #watchKey(channel: Channel, key: string, isRejected: boolean): Promise<void> {
    const fingerprint = this.#deps.seal.hash(key).slice(0, 16)
    const subject = `${channel.id} ${fingerprint}`
    const condition: Condition = { type: 'key.rejected', subject, reporter: this.#owner }
    const data = { channel: channel.name, key: fingerprint }
    if (!isRejected) return this.#clear(condition, false, async () => {})
    await this.#raise(condition, (tx, atMs) => notify(tx, { type: 'key.rejected', atMs, data }))
  }

  async #watchTasks(): Promise<void> {
    const { store, clock } = this.#deps
    const nowMs = clock.nowMs()
    const range = { fromMs: nowMs - taskWindowMs, bornMs: nowMs - maxTaskAgeMs }
    const counts = await countTaskFailures(store.read, range)
    const failing = counts.filter(
      ({ failed, total }) => total >= minTasks && failed >= total * failedShare,
    )
    const type = 'task.failures'
    const subjects = new Map(failing.map((each) => [`${each.model} ${each.channel}`, each]))
    for (const { subject } of await listConditions(store.read, type)) {
      if (!subjects.has(subject)) await this.#end({ type, subject, reporter: '' })
    }
    for (const [subject, data] of subjects) {
      await this.#begin({ type, subject, reporter: '' }, (tx, atMs) =>
        notify(tx, { type, atMs, data }),
      )
    }
  }

  async #watchErrors(): Promise<void> {
    const { store, clock, subscriptions } = this.#deps
    const type = 'error_rate'
    const known = await listConditions(store.read, type)
    for (const { webhook, model, channel, above, overMs, min } of subscriptions.rateRules) {
      const of = model === undefined ? { channel: channel! } : { model }
      const { failed, total } = await countErrors(store.read, of, clock.nowMs() - overMs)
      const rate = total === 0 ? 0 : failed / total
      const subject = JSON.stringify([webhook.id, of, above, overMs, min])
      const condition: Condition = { type, subject, reporter: '' }
      if (total < min || rate <= above) {
        if (isKnown(known, subject)) await this.#end(condition)
      } else {
        await this.#begin(condition, (tx, atMs) =>
          notifyThese(tx, { type, atMs, data: { ...of, rate, total } }, [webhook]),
        )
      }
    }
  }

  async #raise(condition: Condition, send: (tx: Tx, atMs: number) => Promise<unknown>) {
    const name = `${condition.type} ${condition.subject}`
    if (this.#reported.has(name)) return
    await this.#begin(condition, send)
    this.#reported.add(name)
  }

  async #begin(condition: Condition, send: (tx: Tx, atMs: number) => Promise<unknown>) {
    const { store, clock, jobs } = this.#deps
    const atMs = clock.nowMs()
    const isFirst = await store.tx(async (tx) => {
      if (!(await raiseCondition(tx, condition, atMs))) return false
      await send(tx, atMs)
      return true
    })
    if (isFirst) jobs.notices.wake()
  }

  /** `evenOthers`: of gateways that are gone. */
  async #clear(
    condition: Condition,
    evenOthers: boolean,
    send: (tx: Tx, atMs: number) => Promise<unknown>,
  ): Promise<void> {
    const name = `${condition.type} ${condition.subject}`
    if (!this.#reported.delete(name) && !evenOthers) return
    this.#readFromMs = 0
    await this.#end(condition, send)
  }

  async #end(condition: Condition, send?: (tx: Tx, atMs: number) => Promise<unknown>) {
    const { store, clock, jobs } = this.#deps
    const live = new Set([this.#owner, ''])
    await store.tx(async (tx) => {
      if (store.cluster !== undefined) for (const { id } of await listGateways(tx)) live.add(id)
      const isOver = await clearCondition(tx, condition, (reporter) => !live.has(reporter))
      if (isOver) await send?.(tx, clock.nowMs())
    })
    if (send !== undefined) jobs.notices.wake()
  }
}

const isKnown = (conditions: readonly Condition[], id: string): boolean =>
  conditions.some(({ subject }) => subject === id)
