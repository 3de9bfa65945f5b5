// Makes notices of what the ledger and the losses say: low balances, budgets, charges, losses. It reads
// on from where it was; what it tells and where it is are one transaction, so that a crash
// neither loses nor repeats anything, and of several gateways one tells it.
import { reachedBy } from '../../billing/budget-steps.ts'
import { crossingsOf } from '../../billing/crossings.ts'
import { requestIdOf, taskIdOf } from '../../contract/bills/receipt.ts'
import { chargeTextColumns } from '../../contract/ledger.ts'
import type { NoticeType } from '../../contract/notices/webhooks.ts'
import { tagsView } from '../../contract/tags/index.ts'
import { crashPoint } from '../../lib/crash-point.ts'
import { LoopService } from '../../lib/loop.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import {
  budgetChargesIn,
  budgetsOf,
  changedBudgets,
  dropBudgetStates,
  orphanedStates,
} from '../../store/deliveries/budget-states.ts'
import {
  type Feed,
  feeds,
  type LossRow,
  lossesIn,
  moveFeed,
  readFeed,
} from '../../store/deliveries/feeds.ts'
import { lowText, movementsIn, watchedAccounts } from '../../store/deliveries/low-balances.ts'
import { changeState, type StateChange } from '../../store/deliveries/notice-states.ts'
import { notify } from '../../store/deliveries/notices.ts'
import { type SettledEntry, settledIn } from '../../store/deliveries/settled-charges.ts'
import { Rollback } from '../../store/index.ts'
import type { BaseDeps } from '../base-deps.ts'
import { Horizon } from './horizon.ts'

const everyMs = 1_000
/** While no subscription wants any of it. */
const idleMs = 60_000
/** Charges of this time are one notice. */
const gatherMs = 5_000
const movementsAtOnce = 2_000
/** In one notice. */
const chargesAtOnce = 500
const lossesAtOnce = 200
const budgetsAtOnce = 200
/** Between two looks for budgets that were changed. */
const changesEveryMs = 2_000
/** They change without an entry. */
const declaredFeeds: readonly Feed[] = ['balance.low', 'budget.reached']

interface FeedDeps extends BaseDeps {
  readonly subscriptions: { wants(...types: readonly NoticeType[]): boolean }
  readonly jobs: { readonly notices: { wake(): void } }
}

interface Page {
  /** The last number that was read, or up to which there is nothing. */
  to: number
  isFull: boolean
  notices: readonly object[]
  /** By subject. */
  states?: ReadonlyMap<string, StateChange>
}

/** Of the ledger's two tables, the rows between two ids are read and sorted: so many at most. */
const maxIds = 20_000

export class LedgerFeeds extends LoopService {
  readonly #deps: FeedDeps
  readonly #horizon: Horizon
  #chargesFromMs = 0
  #changesFromMs = 0

  constructor(deps: FeedDeps) {
    const failure = 'the ledger could not be read for notices'
    super({ name: 'notice-feeds', everyMs: idleMs, retryMs: everyMs, log: deps.log, failure })
    this.#deps = deps
    this.#horizon = new Horizon(deps.store)
  }

  protected override async run(): Promise<number> {
    const { subscriptions, store } = this.#deps
    if (!subscriptions.wants(...feeds)) return idleMs
    if (!store.healthy) return everyMs
    return (await this.round()) ? 0 : everyMs
  }

  /** One page of each feed; true when there is more to read now. */
  async round(): Promise<boolean> {
    const settled = await this.#horizon.settled()
    const nowMs = performance.now()
    const isChargeTime = nowMs >= this.#chargesFromMs
    if (isChargeTime) this.#chargesFromMs = nowMs + gatherMs
    const { entryId, lossSeq } = settled
    const more = [
      await this.#advance('balance.low', entryId, (at, end) => this.#lowBalances(at, end)),
      await this.#advance('budget.reached', entryId, (at, end) => this.#budgets(at, end)),
      await this.#advance('loss.booked', lossSeq, (at, end) => this.#losses(at, end)),
      isChargeTime &&
        (await this.#advance('charge.settled', entryId, (at, end) => this.#charges(at, end))),
    ]
    if (more[3] === true) this.#chargesFromMs = 0
    return more.includes(true)
  }

  async #advance(
    feed: Feed,
    until: number,
    read: (at: number, end: number) => Promise<Page>,
  ): Promise<boolean> {
    const { store, clock, jobs } = this.#deps
    const from = await readFeed(store.read, feed)
    if (from === undefined || (until <= from && !declaredFeeds.includes(feed))) return false
    const end = Math.min(until, from + maxIds)
    const { to, isFull, notices, states = new Map() } = await read(from, end)
    if (to <= from && notices.length === 0 && states.size === 0) return false
    const atMs = clock.nowMs()
    try {
      await store.tx(async (tx) => {
        const isOurs = await moveFeed(tx, feed, { from, to: Math.max(from, to) })
        const taken = new Rollback('another gateway has told it')
        if (!isOurs) throw taken
        for (const [subject, change] of states) {
          if (!(await changeState(tx, feed, subject, { ...change, atMs }))) throw taken
        }
        for (const data of notices) await notify(tx, { type: feed, atMs, data })
        crashPoint('notice-written')
      })
    } catch (error) {
      if (error instanceof Rollback) return false
      throw error
    }
    if (notices.length > 0) jobs.notices.wake()
    return isFull || end < until
  }

  async #lowBalances(afterId: number, untilId: number): Promise<Page> {
    const { read } = this.#deps.store
    const limit = movementsAtOnce
    const movements = await movementsIn(read, { afterId, untilId, limit })
    const byAccount = Map.groupBy(movements, ({ accountId }) => accountId)
    const accounts = await watchedAccounts(read, [...byAccount.keys()], afterId)
    const states = new Map<string, StateChange>()
    const notices: object[] = []
    for (const account of accounts) {
      const { crossings, state } = crossingsOf(account, byAccount.get(account.id) ?? [])
      const [before, after] = [account.body, state && lowText(state)]
      if (after !== undefined && after !== before) states.set(account.id, { before, after })
      for (const { balanceNanos, thresholdNanos: below } of crossings) {
        const [balance, threshold] = [formatNanos(balanceNanos), formatNanos(below)]
        notices.push({ account: account.name, balance, threshold })
      }
    }
    return { ...endOf(movements, limit, untilId), notices, states }
  }

  async #budgets(afterId: number, untilId: number): Promise<Page> {
    const { store, clock } = this.#deps
    const limit = movementsAtOnce
    const charges = await budgetChargesIn(store.read, { afterId, untilId, limit })
    const budgets = [...(await budgetsOf(store.read, charges)), ...(await this.#changedBudgets())]
    const byAccount = Map.groupBy(charges, ({ account_id }) => account_id)
    const states = new Map<string, StateChange>()
    const notices: object[] = []
    for (const watched of new Map(budgets.map((each) => [each.budget.id, each])).values()) {
      const { id, account_id } = watched.budget
      const own = byAccount.get(account_id) ?? []
      const reached = await reachedBy(store, watched, own, clock.nowMs())
      if (reached.change !== undefined) states.set(id, reached.change)
      notices.push(...reached.notices)
    }
    return { ...endOf(charges, limit, untilId), notices, states }
  }

  async #changedBudgets() {
    const { store } = this.#deps
    const nowMs = performance.now()
    if (nowMs < this.#changesFromMs) return []
    const changed = await changedBudgets(store.read, budgetsAtOnce)
    // There may be more.
    if (changed.length < budgetsAtOnce) this.#changesFromMs = nowMs + changesEveryMs
    const gone = await orphanedStates(store.read)
    if (gone.length > 0) await store.tx((tx) => dropBudgetStates(tx, gone))
    return changed
  }

  async #charges(afterId: number, untilId: number): Promise<Page> {
    const limit = chargesAtOnce
    const rows = await settledIn(this.#deps.store.read, { afterId, untilId, limit })
    const notices = rows.length === 0 ? [] : [{ entries: rows.map(entryView) }]
    return { ...endOf(rows, limit, untilId), notices }
  }

  async #losses(afterId: number, untilId: number): Promise<Page> {
    const limit = lossesAtOnce
    const rows = await lossesIn(this.#deps.store.read, { afterId, untilId, limit })
    const numbers = rows.map(({ seq: id }) => ({ id }))
    const notices = rows.filter(({ amountNanos }) => amountNanos > 0n).map(lossView)
    return { ...endOf(numbers, limit, untilId), notices }
  }
}

function endOf(rows: readonly { id: number }[], limit: number, untilId: number) {
  const isFull = rows.length === limit
  return { isFull, to: isFull ? rows.at(-1)!.id : untilId }
}

/** As the ledger of the admin API shows it, with its account. */
function entryView({ ref, task_request_id, ...row }: SettledEntry) {
  const of = { ref, ...(task_request_id !== null && { requestId: task_request_id }) }
  return {
    id: String(row.id),
    at: new Date(row.at_ms).toISOString(),
    account: row.account,
    kind: row.kind,
    amount: formatNanos(row.amount_nanos),
    request_id: requestIdOf(of) ?? null,
    task_id: taskIdOf(ref) ?? null,
    token_id: row.token_id,
    model: row.model,
    ...chargeTextColumns(({ column }) => row[column]),
    unit: row.unit,
    tier: row.tier,
    quantity: row.quantity,
    price_id: row.price_id,
    estimated: row.estimated === 1,
    ...tagsView(row.tags ?? undefined),
  }
}

function lossView({ account, amountNanos, ref }: LossRow) {
  const about = ref.startsWith('req_') ? { request_id: ref } : { task_id: ref }
  return { account, amount: formatNanos(amountNanos), ...about }
}
