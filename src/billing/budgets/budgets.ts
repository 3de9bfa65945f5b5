// Admits calls and tasks within the budgets that they fall under: spent, held and the new hold together
// stay within the amount of each, over all gateways on one database. A gateway leases room for its calls
// and holds them against the lease in memory; tasks are decided in the transaction that holds for them.
import type { BudgetState } from '../../contract/budgets/budget.ts'
import { InFlight } from '../../lib/in-flight.ts'
import { gatewayOf, type Store, type Tx } from '../../store/index.ts'
import { type BudgetFilter, lockBudgets, readBudgets } from '../../store/ledger/budget-spend.ts'
import type { StoredBudget } from '../../store/ledger/budgets.ts'
import { type Inquiries, readWaitMs } from '../leases/inquiries.ts'
import {
  AccountBudgets,
  type BudgetHold,
  type BudgetLease,
  Exhausted,
  freeOf,
  holdersOf,
  type Spender,
  type SpendingCall,
} from './budget-leases.ts'

/** The budgets of one call or task. */
export interface BudgetsOfCall {
  readonly account: AccountBudgets
  readonly leases: readonly BudgetLease[]
}

export class Budgets {
  readonly #store: Store
  readonly #nowMs: () => number
  readonly #inquiries: Inquiries | undefined
  readonly #accounts = new Map<string, AccountBudgets>()
  /** Most gateways have none, and their calls pay for this check only. */
  #any = false
  /** Calls in flight: a budget that is set meanwhile counts what they hold. */
  readonly #calls = new InFlight<SpendingCall>()

  /** Without inquiries, the database is not shared. */
  constructor(store: Store, inquiries: Inquiries | undefined, nowMs: () => number) {
    this.#store = store
    this.#nowMs = nowMs
    this.#inquiries = inquiries
    inquiries?.onRecall('budget_wanted', (accountId) => this.#returnAll(accountId))
    store.cluster?.subscribe(({ kind }) => {
      if (kind === 'evicted') for (const account of this.#accounts.values()) account.evicted()
    })
  }

  /** When this resolves, calls that were in flight here are held in budgets that are new. */
  async declare(budgets: readonly StoredBudget[]): Promise<void> {
    const byAccount = Map.groupBy(budgets, ({ accountId }) => accountId)
    const deps = { store: this.#store, inquiries: this.#inquiries, nowMs: this.#nowMs }
    for (const id of byAccount.keys()) {
      if (!this.#accounts.has(id)) this.#accounts.set(id, new AccountBudgets(deps, id))
    }
    const gained: AccountBudgets[] = []
    for (const [id, account] of this.#accounts) {
      if (account.declare(byAccount.get(id) ?? [])) gained.push(account)
      if (account.isEmpty) this.#accounts.delete(id)
    }
    this.#any = budgets.length > 0
    if (this.#calls.size === 0) return
    await Promise.all(gained.map((account) => account.adopt(this.#calls)))
  }

  /** A call is in flight from here on. */
  enter(call: SpendingCall): void {
    this.#calls.add(call)
    if (!this.#any || call.spender === undefined) return
    this.#adoptIfNew(call, call.spender)
  }

  #adoptIfNew(call: SpendingCall, { token, tags }: Spender): void {
    const under = this.of(token, tags)
    const isNew = under?.leases.some((each) => !call.budget?.leases.includes(each))
    // Set while it was admitted. If this fails, the next write of its leases counts it.
    if (under !== undefined && isNew) void under.account.adopt(this.#calls).catch(() => {})
  }

  /** It has ended, and its charge is durable or has failed. */
  leave(call: SpendingCall, chargeNanos: bigint): void {
    this.#calls.delete(call)
    const { budget } = call
    if (budget === undefined) return
    for (const lease of budget.leases) lease.end(budget.nanos, chargeNanos)
    if (chargeNanos <= budget.nanos) return
    // What is leased may be beyond the amount now, so no gateway uses it.
    const { account } = budget
    account.dropSpendable()
    this.#store.cluster?.publish({ kind: 'budget_wanted', accountId: account.id, nonce: '' })
  }

  /** Those that calls of this token, with these tags, fall under; undefined: none. */
  of(token: Spender['token'], tags?: string): BudgetsOfCall | undefined {
    const account = this.#any ? this.#accounts.get(token.accountId) : undefined
    if (account === undefined) return undefined
    const leases = account.under(token, tags)
    return leases.length === 0 ? undefined : { account, leases }
  }

  /** Holds in all of them or in none. Fails when it is unknown now whether there is room. */
  reserve({ account, leases }: BudgetsOfCall, nanos: bigint): Promise<BudgetHold | Exhausted> {
    return account.reserve(leases, nanos)
  }

  /** Of a call that was not admitted. */
  release(hold: BudgetHold): void {
    for (const lease of hold.leases) lease.end(hold.nanos, 0n)
  }

  /** In the transaction that holds for a task: undefined when there is room for it in all budgets. */
  async lackingFor(
    tx: Tx,
    { account, leases }: BudgetsOfCall,
    nanos: bigint,
  ): Promise<Exhausted | undefined> {
    const of = { accountId: account.id, ids: leases.map(({ id }) => id) }
    const { dialect } = this.#store
    const spends = await lockBudgets(tx, this.#nowMs(), { ...of, dialect })
    const lacking = spends.filter((spend) => freeOf(spend) < nanos)
    return lacking.length === 0 ? undefined : new Exhausted(lacking)
  }

  /** For tasks: true when another transaction is worthwhile, as always where something may have moved. */
  async gather({ account, leases }: BudgetsOfCall, tries: number): Promise<boolean> {
    const ids = leases.map(({ id }) => id)
    return (await account.gather(tries, ids)) || tries === 0
  }

  /** What is spent and held of budgets: all, or those that the filter names. */
  async states(of: BudgetFilter = {}): Promise<BudgetState[]> {
    const { read } = this.#store
    const accountId = of.accountIds?.length === 1 ? of.accountIds[0] : undefined
    await this.#returnAll(accountId)
    let spends = await readBudgets(read, this.#nowMs(), of)
    const holders = holdersOf(spends, gatewayOf(this.#store))
    if (this.#inquiries !== undefined && holders.length > 0) {
      const question = { kind: 'budget_wanted', ...(accountId && { accountId }) } as const
      await this.#inquiries.ask(question, holders, readWaitMs)
      spends = await readBudgets(read, this.#nowMs(), of)
    }
    return spends.map(({ period, taskNanos, leases, ...budget }) => {
      let heldNanos = taskNanos
      for (const nanos of leases.values()) heldNanos += nanos
      return { ...budget, heldNanos, fromMs: period.fromMs, resetsAtMs: period.untilMs }
    })
  }

  async #returnAll(accountId: string | undefined): Promise<bigint> {
    let returned = 0n
    for (const account of this.#accounts.values()) {
      if (accountId === undefined || accountId === account.id) returned += await account.recalled()
    }
    return returned
  }
}
