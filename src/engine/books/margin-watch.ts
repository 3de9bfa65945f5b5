// Models that lose money: more was paid to upstreams for a day of a model than callers were charged. Each is an
// alert and a notice, once for a model and day, whichever gateway finds it. Runs only where costs are known.
import { sumUsage } from '../../billing/prices/usage-rows.ts'
import { LoopService } from '../../lib/loop.ts'
import { listAlerts, raiseAlert } from '../../store/catalog/alerts.ts'
import { notify } from '../../store/deliveries/notices.ts'
import { readBooksEnd } from '../../store/proof/audit-recent.ts'
import { sumWork } from '../../store/proof/work-sums.ts'
import type { BaseDeps, Declares, Offers } from '../base-deps.ts'

const kind = 'margin.negative'
const everyMs = 10_000
const dayMs = 86_400_000
/** Alerts of this kind that are looked through for one that was raised already. */
const maxAlerts = 10_000

type MarginDeps = BaseDeps & Declares & Pick<Offers, 'costs'> & Wakes
interface Wakes {
  readonly jobs: { readonly notices: { wake(): void } }
}

export class MarginWatch extends LoopService {
  readonly #deps: MarginDeps
  /** The end of the log when it was last checked. */
  #checkedId = -1

  constructor(deps: MarginDeps) {
    const failure = 'margins could not be checked'
    super({ name: 'margin-watch', everyMs, firstMs: everyMs, log: deps.log, failure })
    this.#deps = deps
  }

  protected override async run(): Promise<void> {
    const { store, costs } = this.#deps
    if (costs.isEmpty || !store.healthy) return
    const endId = await readBooksEnd(store.read)
    if (endId === this.#checkedId) return
    await this.check()
    this.#checkedId = endId
  }

  /** This day, and the one before, whose last calls may just have ended. */
  async check(): Promise<void> {
    const { clock } = this.#deps
    const today = clock.nowMs() - (clock.nowMs() % dayMs)
    for (const fromMs of [today - dayMs, today]) await this.#checkDay(fromMs)
  }

  async #checkDay(fromMs: number): Promise<void> {
    const { store } = this.#deps
    const asked = { fromMs, untilMs: fromMs + dayMs, by: ['model'] as const, withCosts: true }
    const { rows } = await sumUsage(store.read, asked, sumWork)
    const losing = rows.filter(({ margin }) => margin!.startsWith('-'))
    if (losing.length === 0) return
    const { items } = await listAlerts(store.read, { limit: maxAlerts, kind, all: true })
    const known = new Set(items.map(({ subject }) => subject))
    const day = new Date(fromMs).toISOString().slice(0, 10)
    for (const { model, amount, cost, margin } of losing) {
      const subject = `${model} ${day}`
      if (!known.has(subject))
        await this.#raise(subject, { model, day, charges: amount, cost, margin })
    }
  }

  async #raise(subject: string, data: Record<string, unknown>): Promise<void> {
    const { store, clock, declared, jobs } = this.#deps
    const atMs = clock.nowMs()
    const { currency } = declared.file
    const message = `model '${data['model']}' has lost money on ${data['day']}: charged ${data['charges']}, cost ${data['cost']} ${currency}`
    await store.tx(async (tx) => {
      const { times } = await raiseAlert(tx, { kind, subject, message, atMs })
      if (times === 1) await notify(tx, { type: 'margin.negative', atMs, data })
    })
    jobs.notices.wake()
  }
}
