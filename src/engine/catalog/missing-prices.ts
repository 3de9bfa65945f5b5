// Models that a channel serves but that cannot be called because they have no price: logged once,
// and an alert until there is a price. Checked after every change and whenever a price begins.
import type { PriceBook } from '../../billing/prices/price-book.ts'
import type { Catalog } from '../../catalog/snapshot.ts'
import type { Model } from '../../contract/catalog.ts'
import { LoopService } from '../../lib/loop.ts'
import { listAlerts, raiseAlert, resolveAlerts } from '../../store/catalog/alerts.ts'
import { notify } from '../../store/deliveries/notices.ts'
import type { BaseDeps } from '../base-deps.ts'

const kind = 'missing_price'
const everyMs = 86_400_000
const minWaitMs = 100
/** Open alerts of one kind; no catalog has more models than this. */
const maxAlerts = 10_000

interface Offered {
  readonly catalog: Catalog
  readonly prices: PriceBook
}

type PriceWatchDeps = Offered & BaseDeps & { readonly jobs: { readonly notices: { wake(): void } } }

export function missingPrices({ catalog, prices }: Offered): string[] {
  return [...catalog.models.values()]
    .filter((model) => catalog.serves(model.name) && mayLackPrice(model))
    .filter(({ name }) => prices.current(name) === undefined && prices.ownersOf(name).length === 0)
    .map(({ name }) => name)
    .sort()
}

/** A name over other models has their prices, unless it has one of its own. */
const mayLackPrice = ({ name, backing }: Model): boolean =>
  backing === undefined || backing.pricedAs === name

export class PriceWatch extends LoopService {
  readonly #deps: PriceWatchDeps
  /** Undefined before the first check, and after one that could not be written. */
  #missing: ReadonlySet<string> | undefined

  constructor(deps: PriceWatchDeps) {
    super({ name: 'price-watch', everyMs, log: deps.log, failure: 'prices could not be checked' })
    this.#deps = deps
  }

  protected override run(): Promise<void> {
    return this.check()
  }

  /** Never fails: a failed write is repeated at the next change. */
  async check(): Promise<void> {
    const { log } = this.#deps
    const before = this.#missing
    const missing = new Set(missingPrices(this.#deps))
    this.#missing = missing
    const fresh = [...missing].filter((model) => !before?.has(model))
    const isSame = fresh.length === 0 && before?.size === missing.size
    for (const model of fresh) log.warn('a model has no price and cannot be called', { model })
    try {
      if (!isSame) await this.#write(fresh, missing)
    } catch (error) {
      this.#missing = undefined
      log.warn('an alert about prices could not be written', { error })
    }
    this.#wakeAtNextPrice()
  }

  async #write(fresh: readonly string[], missing: ReadonlySet<string>): Promise<void> {
    const { store, clock } = this.#deps
    const { items } = await listAlerts(store.read, { limit: maxAlerts, kind })
    // A model with a term of an answer that has no price stays until an operator resolves it.
    const over = items.filter(({ subject }) => !missing.has(subject) && !subject.includes(' '))
    if (fresh.length === 0 && over.length === 0) return
    const atMs = clock.nowMs()
    await store.tx(async (tx) => {
      for (const subject of fresh) {
        const message = `model '${subject}' is served by a channel but has no price in force, so it cannot be called`
        const { times } = await raiseAlert(tx, { kind, subject, message, atMs, isLasting: true })
        if (times === 1) await notify(tx, { type: 'price.missing', atMs, data: { model: subject } })
      }
      for (const { subject } of over) await resolveAlerts(tx, kind, subject, atMs)
    })
    if (fresh.length > 0) this.#deps.jobs.notices.wake()
  }

  /** A price may begin between two changes. */
  #wakeAtNextPrice(): void {
    const { prices, clock } = this.#deps
    const startMs = prices.nextStartMs()
    if (startMs === undefined) return
    this.wake(Math.max(startMs - clock.nowMs() + 1, minWaitMs))
  }
}
