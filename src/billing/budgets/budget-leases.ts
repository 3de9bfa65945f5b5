// Leases of room in the budgets of one account. A call falls under several of them, and is held in all or
// in none. A draw locks the account, so that one moment decides for all waiting calls: what is spent, what
// tasks hold, and what each gateway has leased. Leases are written as whole amounts, so that a write with
// an unknown outcome is corrected by the next; in the store a lease is at least what calls hold here and
// what is being charged, at every moment. Leases have no date: at the border of a period only what is
// spent begins anew, and open holds count on.
import { budgetId } from '../../contract/budgets/budget.ts'
import { ensure } from '../../lib/ensure.ts'
import { InFlight, type Listed } from '../../lib/in-flight.ts'
import { gatewayOf, type Store, type Tx } from '../../store/index.ts'
import { type BudgetSpend, lockBudgets } from '../../store/ledger/budget-spend.ts'
import { budgetHolders, type StoredBudget, writeBudgetLeases } from '../../store/ledger/budgets.ts'
import { isEvicted } from '../../store/ledger/credit-leases.ts'
import type { Inquiries } from '../leases/inquiries.ts'
import {
  aheadWithin,
  allot,
  type Drawn,
  Leases,
  LeaseUnknown,
  type Waiter,
} from '../leases/lease.ts'

/** Of one budget: leased minus held may be spent. */
export class BudgetLease {
  readonly id: string
  #budget: StoredBudget
  #leasedNanos = 0n
  /** Holds of calls whose charge is not durable yet. */
  #heldNanos = 0n
  /** The lease as last written; undefined: unknown. */
  #storedNanos: bigint | undefined = 0n
  /** Holds and charges may exceed the amount: what becomes free is not used again before a draw. */
  #isOver = false
  /** At least this much is spent until then: within a period, it never falls. */
  #known: { spentNanos: bigint; untilMs: number } | undefined

  constructor(budget: StoredBudget) {
    this.id = budget.id
    this.#budget = budget
  }

  /** As declared, or as it was when it was taken away. */
  get budget(): StoredBudget {
    return this.#budget
  }

  get isUsed(): boolean {
    return this.#heldNanos > 0n || this.#storedNanos !== 0n
  }

  /** By how much its row is more than what is held; undefined: the row is right. */
  get unheldNanos(): bigint | undefined {
    if (this.#storedNanos === this.#heldNanos) return undefined
    return (this.#storedNanos ?? this.#leasedNanos) - this.#heldNanos
  }

  /** What is leased under other terms is not used any more. */
  declare(budget: StoredBudget): void {
    const { amountNanos, per, zone } = this.#budget
    if (amountNanos === budget.amountNanos && per === budget.per && zone === budget.zone) return
    this.#budget = budget
    this.#known = undefined
    this.dropSpendable()
  }

  /** What is free of charge has room where something is left. */
  fits(nanos: bigint): boolean {
    const leftNanos = this.#leasedNanos - this.#heldNanos
    return leftNanos >= nanos && leftNanos > 0n && this.#budget.amountNanos > 0n
  }

  /** Without asking the store: what is spent alone leaves no room. */
  isSpent(nanos: bigint, nowMs: number): boolean {
    const { amountNanos } = this.#budget
    if (amountNanos === 0n) return true
    const known = this.#known
    return known !== undefined && nowMs < known.untilMs && amountNanos - known.spentNanos < nanos
  }

  /** More than is leased only for calls that were admitted before the budget was set. */
  hold(nanos: bigint): void {
    this.#heldNanos += nanos
    if (this.#leasedNanos < this.#heldNanos) this.keepHeld()
  }

  /** The call has ended, and its charge, if any, is durable: that part is spent and no longer leased. */
  end(nanos: bigint, chargeNanos: bigint): void {
    this.#heldNanos -= nanos
    ensure(this.#heldNanos >= 0n, 'holds of a budget never fall below zero')
    this.#leasedNanos -= chargeNanos
    if (this.#isOver || this.#leasedNanos < this.#heldNanos) this.dropSpendable()
  }

  /** Until the next draw no call takes more. */
  dropSpendable(): void {
    this.#isOver = true
    this.#leasedNanos = this.#heldNanos
  }

  /** The same before its row is written, or when that is gone; returns what must stay leased. */
  keepHeld(): bigint {
    this.dropSpendable()
    this.#storedNanos = undefined
    return this.#heldNanos
  }

  /** The row has this amount. What was charged meanwhile has been taken from what was kept. */
  written(leasedNanos: bigint, keptNanos: bigint): void {
    this.#leasedNanos += leasedNanos - keptNanos
    this.#storedNanos = leasedNanos
  }

  /** What the draw has seen; without a row, the budget was taken away meanwhile. */
  seen(spend: BudgetSpend | undefined, freeNanos = 0n): void {
    this.#isOver = freeNanos < 0n
    if (spend === undefined) return
    this.#known = { spentNanos: spend.spentNanos, untilMs: spend.period.untilMs }
  }
}

/** The hold of a call in all budgets that it falls under. */
export interface BudgetHold {
  readonly account: AccountBudgets
  /** Budgets that were set while the call runs are added. */
  readonly leases: BudgetLease[]
  readonly nanos: bigint
}

/** Who spends. */
export interface Spender {
  readonly token: { accountId: string; id: string; lineage?: string }
  readonly tags?: string | undefined
}

/** A call in flight, as its hold. */
export interface SpendingCall extends Listed {
  readonly accountId: string
  readonly amountNanos: bigint
  readonly spender?: Spender | undefined
  /** The same amount in the budgets that it falls under. */
  budget?: BudgetHold | undefined
}

/** Budgets that a call does not fit into. */
export class Exhausted {
  readonly budgets: readonly StoredBudget[]

  constructor(budgets: readonly StoredBudget[]) {
    this.budgets = budgets
  }
}

interface BudgetWaiter extends Waiter<BudgetLease, BudgetHold | Exhausted> {
  /** By the last draw; undefined: it was in none. */
  lacking?: readonly BudgetLease[]
}

interface BudgetDeps {
  readonly store: Store
  /** Undefined: the database is not shared. */
  readonly inquiries: Inquiries | undefined
  readonly nowMs: () => number
}

interface Settling extends Listed {
  readonly ended: Promise<void>
}

export class AccountBudgets extends Leases<BudgetWaiter> {
  readonly id: string
  readonly #deps: BudgetDeps
  readonly #gatewayId: string
  /** By id; also those taken away while calls hold them. */
  readonly #leases = new Map<string, BudgetLease>()
  readonly #declared = new Map<string, BudgetLease>()
  readonly #settling = new InFlight<Settling>()

  constructor(deps: BudgetDeps, id: string) {
    super({ kind: 'budget_wanted', accountId: id }, deps.inquiries)
    this.id = id
    this.#deps = deps
    this.#gatewayId = gatewayOf(deps.store)
  }

  /** Replaces what was declared; true when it has a budget which it did not have before. */
  declare(budgets: readonly StoredBudget[]): boolean {
    const before = new Set(this.#declared.keys())
    this.#declared.clear()
    for (const budget of budgets) {
      const lease = this.#leases.get(budget.id) ?? new BudgetLease(budget)
      this.#leases.set(budget.id, lease)
      this.#declared.set(budget.id, lease)
      lease.declare(budget)
    }
    for (const [id, lease] of this.#leases) {
      if (!this.#declared.has(id) && !lease.isUsed && this.isIdle) this.#leases.delete(id)
    }
    return budgets.some(({ id }) => !before.has(id))
  }

  get isEmpty(): boolean {
    return this.#leases.size === 0 && this.isIdle
  }

  /** Of the budgets that calls of this token, with these tags, fall under. */
  under({ id, lineage = id }: Spender['token'], tags: string | undefined): BudgetLease[] {
    if (this.#declared.size === 0) return []
    const accountId = this.id
    const ids = [
      budgetId({ accountId, scope: 'account', subject: accountId }),
      budgetId({ accountId, scope: 'token', subject: lineage }),
      ...(tags?.split(',') ?? []).map((subject) => budgetId({ accountId, scope: 'tag', subject })),
    ]
    return ids.map((each) => this.#declared.get(each)).filter((each) => each !== undefined)
  }

  /** Holds in all of them or in none. Fails when it is unknown now whether there is room. */
  async reserve(leases: readonly BudgetLease[], nanos: bigint): Promise<BudgetHold | Exhausted> {
    const nowMs = this.#deps.nowMs()
    const spent = leases.filter((each) => each.isSpent(nanos, nowMs))
    if (spent.length > 0) return exhausted(spent)
    if (this.waiters.length === 0 && leases.every((each) => each.fits(nanos))) {
      return this.#hold(leases, nanos)
    }
    return new Promise((resolve, reject) => this.join({ of: leases, nanos, resolve, reject }))
  }

  #hold(leases: readonly BudgetLease[], nanos: bigint): BudgetHold {
    for (const lease of leases) lease.hold(nanos)
    return { account: this, leases: [...leases], nanos }
  }

  /** A charge is being written until this ends, one way or the other: draws that find too little wait. */
  addSettling(settled: Promise<unknown>): void {
    const settling: Settling = { index: -1, ended: settled.then(nothing, nothing) }
    this.#settling.add(settling)
    void settling.ended.then(() => this.#settling.delete(settling))
  }

  protected override settling(): readonly Promise<void>[] {
    return Array.from(this.#settling, ({ ended }) => ended)
  }

  /** More was charged than held: what is leased may be beyond the amount. */
  dropSpendable(): void {
    for (const lease of this.#leases.values()) lease.dropSpendable()
  }

  /** The others have returned what it had leased. */
  evicted(): void {
    for (const lease of this.#leases.values()) lease.keepHeld()
  }

  /** Calls in flight are held in budgets that are new, while no draw is under way. */
  async adopt(calls: Iterable<SpendingCall>): Promise<void> {
    await this.inTurn(() => {
      for (const call of calls) this.#adoptCall(call)
      return this.returnUnheld()
    })
  }

  #adoptCall(call: SpendingCall): void {
    const { accountId, spender, amountNanos: nanos } = call
    if (accountId !== this.id || spender === undefined) return
    for (const lease of this.under(spender.token, spender.tags)) {
      if (call.budget?.leases.includes(lease)) continue
      call.budget ??= { account: this, leases: [], nanos }
      call.budget.leases.push(lease)
      lease.hold(nanos)
    }
  }

  protected override draw(asking: ReadonlySet<BudgetWaiter>): Promise<Drawn<BudgetWaiter>> {
    return this.inTurn(async () => {
      const waiters = this.left(asking)
      if (waiters.length === 0) return { short: [], holders: [] }
      const leases = new Set(waiters.flatMap((waiter) => waiter.of))
      const kept = new Map([...leases].map((lease) => [lease, lease.keepHeld()]))
      const terms = { aheadNanos: this.ahead(waiters[0]!.nanos), nowMs: this.#deps.nowMs() }
      const drawn = await this.#write((tx) => this.#decide(tx, waiters, kept, terms), this.id)
      if (drawn === undefined) throw new LeaseUnknown('the others have given this gateway up')
      const { spends, free, lacking, rows } = drawn
      for (const [lease, keptNanos] of kept) {
        lease.written(rows.get(lease.id)!, keptNanos)
        lease.seen(spends.get(lease.id), free.get(lease))
      }
      for (const [at, waiter] of waiters.entries()) {
        waiter.lacking = lacking[at]!
        if (waiter.lacking.length === 0) waiter.resolve(this.#hold(waiter.of, waiter.nanos))
      }
      this.leave((waiter) => waiter.lacking?.length === 0)
      const short = waiters.filter((waiter) => waiter.lacking!.length > 0)
      return {
        short,
        holders: holdersOf(
          lacking.flat().map(({ id }) => spends.get(id)!),
          this.#gatewayId,
        ),
      }
    })
  }

  /** Undefined: this gateway has been evicted. The work may run again, so it changes only rows. */
  #write<T>(work: (tx: Tx) => Promise<T>, lockedId?: string): Promise<T | undefined> {
    const { store } = this.#deps
    return store.tx(async (tx) => {
      const isGone = store.cluster !== undefined && (await isEvicted(tx, this.#gatewayId))
      return isGone ? undefined : work(tx)
    }, lockedId)
  }

  async #decide(
    tx: Tx,
    waiters: readonly BudgetWaiter[],
    kept: ReadonlyMap<BudgetLease, bigint>,
    { aheadNanos, nowMs }: { aheadNanos: bigint; nowMs: number },
  ) {
    const of = { accountId: this.id, ids: Array.from(kept.keys(), ({ id }) => id) }
    const { dialect } = this.#deps.store
    const locked = await lockBudgets(tx, nowMs, { ...of, dialect })
    const spends = new Map(locked.map((spend) => [spend.id, spend]))
    const free = new Map<BudgetLease, bigint>()
    for (const [lease, keptNanos] of kept) {
      const spend = spends.get(lease.id)
      if (spend !== undefined) free.set(lease, freeOf(spend, this.#gatewayId) - keptNanos)
    }
    const { lacking, takenOf } = allot(free, waiters)
    const short = new Set(lacking.flat())
    const rows = new Map<string, bigint>()
    for (const [lease, keptNanos] of kept) {
      const taken = takenOf(lease)
      const left = taken > 0n && !short.has(lease) ? (free.get(lease) ?? 0n) - taken : 0n
      rows.set(lease.id, keptNanos + taken + aheadWithin(left, aheadNanos))
    }
    await writeBudgetLeases(tx, this.#gatewayId, rows)
    return { spends, free, lacking, rows }
  }

  protected override refuse(short: readonly BudgetWaiter[]): void {
    const refused = new Set(short)
    this.leave((waiter) => refused.has(waiter))
    for (const { lacking = [], resolve } of short) resolve(exhausted(lacking))
  }

  protected override async returnUnheld(): Promise<bigint> {
    const unheld = [...this.#leases.values()].filter((each) => each.unheldNanos !== undefined)
    if (unheld.length === 0) return 0n
    let returnedNanos = 0n
    for (const lease of unheld) returnedNanos += lease.unheldNanos!
    const kept = new Map(unheld.map((lease) => [lease, lease.keepHeld()]))
    const rows = new Map(Array.from(kept, ([{ id }, nanos]) => [id, nanos]))
    const isWritten = await this.#write(async (tx) => {
      await writeBudgetLeases(tx, this.#gatewayId, rows)
      return true
    })
    if (isWritten === undefined) return 0n
    for (const [lease, nanos] of kept) lease.written(nanos, nanos)
    return returnedNanos
  }

  protected override holders(ids: readonly string[] = []): Promise<readonly string[]> {
    return budgetHolders(this.#deps.store.read, { ids, exceptId: this.#gatewayId })
  }
}

/** Neither spent, held nor leased by a gateway, or by another one. Zero has no room for what is free. */
export function freeOf(spend: BudgetSpend, exceptId?: string): bigint {
  if (spend.amountNanos === 0n) return -1n
  let freeNanos = spend.amountNanos - spend.spentNanos - spend.taskNanos
  for (const [holder, nanos] of spend.leases) if (holder !== exceptId) freeNanos -= nanos
  return freeNanos
}

/** Gateways that have leased some of these budgets, without this one. */
export function holdersOf(spends: readonly BudgetSpend[], exceptId: string): string[] {
  const holders = new Set(spends.flatMap(({ leases }) => [...leases.keys()]))
  holders.delete(exceptId)
  return [...holders]
}

const exhausted = (leases: readonly BudgetLease[]): Exhausted =>
  new Exhausted(leases.map(({ budget }) => budget))

function nothing(): void {}
