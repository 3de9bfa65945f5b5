// Admits calls and tasks within the budgets that they fall under: spent, held and the new hold together
// stay within the amount of each, over all gateways on one database. A gateway leases room for its calls
// and holds them against the lease in memory; tasks are decided in the transaction that holds for them.
// A call is refused only after the other gateways have returned what they do not hold.

import type { BudgetState } from '../../contract/budgets/budget.ts'
import { InFlight } from '../../lib/in-flight.ts'
import { gatewayOf, type Notice, type Store, type Tx } from '../../store/index.ts'
import { type BudgetFilter, lockBudgets, readBudgets } from '../../store/ledger/budget-spend.ts'
import type { StoredBudget } from '../../store/ledger/budgets.ts'
import type { Inquiries } from '../credit/inquiries.ts'
import { BudgetUnknown, drawBudgets, otherHolders, returnBudgets } from './budget-draws.ts'
import {
  type AccountBudgets,
  adoptCall,
  type BudgetFunds,
  type BudgetHold,
  DeclaredBudgets,
  Exhausted,
  endBudgetHold,
  fits,
  isKnownSpent,
  type SpendingCall,
  takeHold,
} from './budget-funds.ts'

/** Further calls waiting for the budgets of one account are refused. */
const maxWaiters = 20_000
/** How long each round waits for the other gateways to return what they do not hold. */
const recallWaitsMs = [60, 400, 900] as const
/** Calls that find a budget full are served together: recalls are at least this far apart. */
const recallEveryMs = 20
/** After a recall nothing is leased in advance. */
const scarceMs = 1_000
/** For readers: a gateway that does not reply in time counts with all it has leased. */
const readWaitMs = 500

/** The budgets of one call or task. */
export interface BudgetsOfCall {
  readonly account: AccountBudgets
  readonly funds: readonly BudgetFunds[]
}

export class Budgets {
  readonly #store: Store
  readonly #nowMs: () => number
  readonly #inquiries: Inquiries | undefined
  readonly #declared = new DeclaredBudgets()
  /** Calls in flight: a budget that is set meanwhile counts what they hold. */
  readonly #calls = new InFlight<SpendingCall>()

  /** Without inquiries, the database is not shared. */
  constructor(store: Store, inquiries: Inquiries | undefined, nowMs: () => number) {
    this.#store = store
    this.#nowMs = nowMs
    this.#inquiries = inquiries
    store.cluster?.subscribe((notice) => this.#reply(notice))
  }

  /** When this resolves, calls that were in flight here are held in budgets that are new. */
  async declare(budgets: readonly StoredBudget[]): Promise<void> {
    const gained = this.#declared.declare(budgets)
    if (this.#calls.size === 0) return
    await Promise.all([...gained].map((account) => this.#adopt(account)))
  }

  /** Draws of an account are not under way meanwhile, so what is leased stays what is stored. */
  async #adopt(account: AccountBudgets): Promise<void> {
    await returnBudgets(this.#store, account, () => {
      for (const call of this.#calls) {
        if (call.accountId !== account.id || call.spender === undefined) continue
        const { token, tags } = call.spender
        const under = this.of(token, tags)
        if (under !== undefined) adoptCall(call, under)
      }
    })
  }

  /** A call is in flight from here on. */
  enter(call: SpendingCall): void {
    this.#calls.add(call)
    if (!this.#declared.any || call.spender === undefined) return
    const under = this.of(call.spender.token, call.spender.tags)
    const isNew = under?.funds.some((each) => !call.budget?.funds.includes(each))
    // Set while it was admitted. If this fails, the next write of its leases counts it.
    if (under !== undefined && isNew) void this.#adopt(under.account).catch(() => {})
  }

  /** It has ended, and its charge is durable or has failed. */
  leave(call: SpendingCall, chargeNanos: bigint): void {
    this.#calls.delete(call)
    const { budget } = call
    if (budget === undefined) return
    endBudgetHold(budget, chargeNanos)
    if (chargeNanos > budget.nanos) this.#recallAll(budget.account)
  }

  /** Those that calls of this token, with these tags, fall under; undefined: none. */
  of(
    { accountId, id, lineage = id }: { accountId: string; id: string; lineage?: string },
    tags?: string,
  ): BudgetsOfCall | undefined {
    return this.#declared.any ? this.#declared.of(accountId, lineage, tags) : undefined
  }

  /** Holds in all of them or in none. Fails when it is unknown now whether there is room. */
  async reserve({ account, funds }: BudgetsOfCall, nanos: bigint): Promise<BudgetHold | Exhausted> {
    const nowMs = this.#nowMs()
    const spent = funds.filter((each) => isKnownSpent(each, nanos, nowMs))
    if (spent.length > 0) return exhausted(spent)
    if (account.waiters.length === 0 && funds.every((each) => fits(each, nanos))) {
      return takeHold({ account, funds: [...funds], nanos })
    }
    if (account.waiters.length >= maxWaiters) {
      throw new BudgetUnknown('too many calls wait for budgets of this account')
    }
    return new Promise((resolve, reject) => {
      account.waiters.push({ funds, nanos, resolve, reject })
      if (!account.serving) void this.#serve(account)
    })
  }

  /** Of a call that was not admitted. */
  release(hold: BudgetHold): void {
    endBudgetHold(hold, 0n)
  }

  /** Draws that find too little room wait for the end of this. */
  settling({ account }: BudgetHold, settled: Promise<unknown>): void {
    account.addSettling(settled)
  }

  /** In the transaction that holds for a task: undefined when there is room for it in all budgets. */
  async lackingFor(
    tx: Tx,
    { account, funds }: BudgetsOfCall,
    nanos: bigint,
  ): Promise<Exhausted | undefined> {
    const { dialect } = this.#store
    const ids = funds.map(({ budget }) => budget.id)
    const spends = await lockBudgets(tx, this.#nowMs(), { accountId: account.id, ids, dialect })
    const lacking = spends.filter(({ amountNanos, spentNanos, taskNanos, leases }) => {
      let takenNanos = spentNanos + taskNanos + nanos
      for (const leased of leases.values()) takenNanos += leased
      return amountNanos === 0n || takenNanos > amountNanos
    })
    return lacking.length === 0 ? undefined : new Exhausted(lacking)
  }

  /** For tasks: true when another transaction is worthwhile. */
  async gather({ account, funds }: BudgetsOfCall, tries: number): Promise<boolean> {
    if (recallWaitsMs[tries] === undefined) return false
    const { settling } = account
    const ids = funds.map(({ budget }) => budget.id)
    const spends = await readBudgets(this.#store.read, this.#nowMs(), { ids })
    const byId = new Map(spends.map((spend) => [spend.id, spend]))
    const holders = otherHolders(byId, ids, gatewayOf(this.#store))
    const isMore = await this.#gather(account, { holders, settling, tries })
    return (await returnBudgets(this.#store, account)) > 0n || isMore || tries === 0
  }

  /** What is spent and held of budgets: all, or those that the filter names. */
  async states(of: BudgetFilter = {}): Promise<BudgetState[]> {
    const { read, cluster } = this.#store
    const accountId = of.accountIds?.length === 1 ? of.accountIds[0] : undefined
    await this.#returnAll(accountId)
    let spends = await readBudgets(read, this.#nowMs(), of)
    const byId = new Map(spends.map((spend) => [spend.id, spend]))
    const holders = otherHolders(byId, byId.keys(), gatewayOf(this.#store))
    if (cluster !== undefined && holders.length > 0) {
      await this.#inquiries?.ask(wanted(accountId), holders, readWaitMs)
      spends = await readBudgets(read, this.#nowMs(), of)
    }
    return spends.map(({ period, taskNanos, leases, ...budget }) => {
      let heldNanos = taskNanos
      for (const nanos of leases.values()) heldNanos += nanos
      return { ...budget, heldNanos, fromMs: period.fromMs, resetsAtMs: period.untilMs }
    })
  }

  async #serve(account: AccountBudgets): Promise<void> {
    account.serving = true
    try {
      while (account.waiters.length > 0) await this.#round(account)
    } catch (error) {
      for (const { reject } of account.waiters.splice(0)) reject(error)
    } finally {
      account.serving = false
    }
  }

  /** When it ends, all who waited when it began are admitted or refused. */
  async #round(account: AccountBudgets): Promise<void> {
    const asking = new Set(account.waiters)
    for (let isMore = true, tries = 0; ; tries++) {
      const { settling } = account
      const { refused, holders } = await drawBudgets(
        { store: this.#store, nowMs: this.#nowMs },
        account,
        asking,
      )
      if (refused.length === 0) return
      const isFinal = !isMore || (holders.length === 0 && settling.length === 0)
      if (isFinal || recallWaitsMs[tries] === undefined) {
        const left = new Set(refused.map(({ waiter }) => waiter))
        account.waiters = account.waiters.filter((waiter) => !left.has(waiter))
        for (const { waiter, lacking } of refused) waiter.resolve(exhausted(lacking))
        return
      }
      isMore = await this.#gather(account, { holders, settling, tries })
    }
  }

  /** Whether anything was returned or settled; if not, the next draw is the last. */
  async #gather(
    account: AccountBudgets,
    of: { holders: readonly string[]; settling: readonly Promise<void>[]; tries: number },
  ): Promise<boolean> {
    const { holders, settling, tries } = of
    await Promise.all(settling)
    account.scarceUntilMs = performance.now() + scarceMs
    if (holders.length === 0 || this.#inquiries === undefined) return settling.length > 0
    const sinceMs = performance.now() - account.askedAtMs
    if (sinceMs < recallEveryMs) await new Promise((go) => setTimeout(go, recallEveryMs - sinceMs))
    account.askedAtMs = performance.now()
    const waitMs = recallWaitsMs[tries]!
    const { answers, missing } = await this.#inquiries.ask(wanted(account.id), holders, waitMs)
    // A gateway that does not reply may be dead.
    if (missing.size > 0) await this.#store.cluster?.sweep()
    const isReturned = answers.some((each) => 'nanos' in each && each.nanos !== '0')
    return isReturned || missing.size > 0 || settling.length > 0
  }

  /** More was charged than held: what is leased may be beyond the amount, so no gateway uses it. */
  #recallAll(account: AccountBudgets): void {
    for (const funds of account.all.values()) {
      funds.isOver = true
      funds.leasedNanos = funds.heldNanos
    }
    this.#store.cluster?.publish({ kind: 'budget_wanted', accountId: account.id, nonce: '' })
  }

  #reply(notice: Notice): void {
    if (notice.kind === 'budget_wanted') void this.#returnFor(notice)
    if (notice.kind !== 'evicted') return
    for (const { all } of this.#declared.all()) {
      for (const funds of all.values()) {
        funds.leasedNanos = funds.heldNanos
        funds.storedNanos = undefined
      }
    }
  }

  async #returnFor({ accountId, nonce }: { accountId?: string; nonce: string }): Promise<void> {
    try {
      const nanos = await this.#returnAll(accountId)
      this.#inquiries?.answer(nonce, { kind: 'returned', nanos: nanos.toString() })
    } catch {
      // The asking gateway counts with all that is leased here; the next write corrects it.
    }
  }

  async #returnAll(accountId: string | undefined): Promise<bigint> {
    let returned = 0n
    for (const account of this.#declared.all()) {
      if (accountId !== undefined && accountId !== account.id) continue
      account.scarceUntilMs = performance.now() + scarceMs
      await Promise.all(account.settling)
      returned += await returnBudgets(this.#store, account)
    }
    return returned
  }
}

const exhausted = (funds: readonly BudgetFunds[]): Exhausted =>
  new Exhausted(funds.map(({ budget }) => budget))

const wanted = (accountId: string | undefined) =>
  ({ kind: 'budget_wanted', ...(accountId !== undefined && { accountId }) }) as const
