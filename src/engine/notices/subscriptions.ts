// Which types of notices are wanted, in memory: what looks for something to tell does nothing while
// no subscription asks for it.
import type { ErrorRateRule, NoticeType } from '../../contract/notices/webhooks.ts'
import { listWebhooks, type Webhook } from '../../store/deliveries/webhooks.ts'
import type { Tx } from '../../store/index.ts'

interface RateRuleOf extends ErrorRateRule {
  webhook: Pick<Webhook, 'id' | 'address'>
}

export class Subscriptions {
  #wanted: ReadonlySet<NoticeType> = new Set()
  #count = 0
  /** Called after a change. */
  onChange: () => void = () => {}
  rateRules: readonly RateRuleOf[] = []

  /** Whether there is any subscription, enabled or not. */
  get exist(): boolean {
    return this.#count > 0
  }

  wants(...types: readonly NoticeType[]): boolean {
    return types.some((type) => this.#wanted.has(type))
  }

  async load(db: Tx): Promise<void> {
    const all = await listWebhooks(db)
    const enabled = all.filter(({ disabled }) => !disabled)
    this.#count = all.length
    this.#wanted = new Set(enabled.flatMap(({ events }) => events))
    this.rateRules = rateRulesIn(all)
    this.onChange()
  }
}

/** The rules in force. */
export const rateRulesIn = (webhooks: readonly Webhook[]): RateRuleOf[] =>
  webhooks
    .filter(({ disabled, events }) => !disabled && events.includes('error_rate'))
    .flatMap(({ id, address, rules }) =>
      rules.map((rule) => ({ ...rule, webhook: { id, address } })),
    )
