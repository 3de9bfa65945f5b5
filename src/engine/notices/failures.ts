// Counts tasks and requests that fail, while a subscription asks for it. Gateways count the same rows, so
// that any of them tells for all. What no subscription asks for any more is over.
import type { NoticeType } from '../../contract/notices/webhooks.ts'
import {
  type Condition,
  countErrors,
  countTaskFailures,
  listConditions,
} from '../../store/deliveries/conditions.ts'
import { notify, notifyThese } from '../../store/deliveries/notices.ts'
import { listWebhooks } from '../../store/deliveries/webhooks.ts'
import type { Tx } from '../../store/index.ts'
import type { BaseDeps } from '../base-deps.ts'
import { type ConditionRows, type RateOf, ruleSubject } from './condition-rows.ts'
import { rateRulesIn, type Subscriptions } from './subscriptions.ts'

const taskWindowMs = 600_000
const maxTaskAgeMs = 48 * 3_600_000
const minTasks = 10
const failedShare = 0.5

const types = ['task.failures', 'error_rate'] as const satisfies readonly NoticeType[]

interface FailureDeps extends BaseDeps {
  readonly subscriptions: Pick<Subscriptions, 'wants' | 'rateRules'>
}

export class Failures {
  readonly #deps: FailureDeps
  readonly #rows: ConditionRows
  /** There may be conditions that no subscription asks for. */
  #mayBeLeft = true

  constructor(deps: FailureDeps, rows: ConditionRows) {
    this.#deps = deps
    this.#rows = rows
  }

  async round(): Promise<void> {
    const isWanted = this.#deps.subscriptions.wants(...types)
    if (!isWanted && !this.#mayBeLeft) return
    await this.#watchTasks()
    await this.#watchErrors()
    this.#mayBeLeft = isWanted
  }

  async #watchTasks(): Promise<void> {
    const { store, subscriptions } = this.#deps
    const type = 'task.failures'
    const failing = subscriptions.wants(type) ? await this.#failingTasks() : []
    const subjects = new Map(failing.map((each) => [`${each.model} ${each.channel}`, each]))
    const isOver = subscriptions.wants(type) ? {} : { isOver: isUnwanted }
    for (const { subject } of await listConditions(store.read, type)) {
      if (!subjects.has(subject)) await this.#rows.end({ type, subject, reporter: '' }, isOver)
    }
    for (const [subject, data] of subjects) {
      const { model, channel, failed, total } = data
      const message = `${failed} of ${total} tasks of model '${model}' on channel '${channel}' failed within 10 minutes`
      await this.#rows.begin(
        { type, subject, reporter: '' },
        (tx, atMs) => notify(tx, { type, atMs, data }),
        message,
      )
    }
  }

  async #failingTasks() {
    const { store, clock } = this.#deps
    const nowMs = clock.nowMs()
    const range = { fromMs: nowMs - taskWindowMs, bornMs: nowMs - maxTaskAgeMs }
    const counts = await countTaskFailures(store.read, range)
    return counts.filter(({ failed, total }) => total >= minTasks && failed >= total * failedShare)
  }

  async #watchErrors(): Promise<void> {
    const { store, clock, subscriptions } = this.#deps
    const type = 'error_rate'
    const known = new Set((await listConditions(store.read, type)).map(({ subject }) => subject))
    for (const { webhook, model, channel, above, overMs, min } of subscriptions.rateRules) {
      const of: RateOf = model === undefined ? { channel: channel! } : { model }
      const { failed, total } = await countErrors(store.read, of, clock.nowMs() - overMs)
      const rate = total === 0 ? 0 : failed / total
      const subject = ruleSubject(webhook.id, of, above, overMs, min)
      const condition: Condition = { type, subject, reporter: '' }
      const isBelow = total < min || rate <= above
      if (isBelow && known.has(subject)) await this.#rows.end(condition)
      known.delete(subject)
      if (isBelow) continue
      await this.#rows.begin(
        condition,
        (tx, atMs) => notifyThese(tx, { type, atMs, data: { ...of, rate, total } }, [webhook]),
        `${failed} of ${total} requests ${textOf(of)} failed within ${overMs / 1_000} s, more than ${percentOf(above)} %`,
      )
    }
    // Their rules were removed; this gateway may not have heard of a new one yet.
    for (const subject of known) {
      const isOver = async (tx: Tx) => !(await hasRule(tx, subject))
      await this.#rows.end({ type, subject, reporter: '' }, { isOver })
    }
  }
}

const textOf = (of: RateOf): string =>
  'model' in of ? `of model '${of.model}'` : `on channel '${of.channel}'`

const percentOf = (share: number): number => Number((share * 100).toFixed(2))

async function isUnwanted(tx: Tx): Promise<boolean> {
  const all = await listWebhooks(tx)
  return !all.some(({ disabled, events }) => !disabled && events.includes('task.failures'))
}

const hasRule = async (tx: Tx, subject: string): Promise<boolean> =>
  rateRulesIn(await listWebhooks(tx)).some(
    ({ webhook, model, channel, above, overMs, min }) =>
      subject ===
      ruleSubject(
        webhook.id,
        model === undefined ? { channel: channel! } : { model },
        ...([above, overMs, min] as const),
      ),
  )
