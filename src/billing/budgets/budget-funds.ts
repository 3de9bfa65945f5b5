// What this gateway may spend of budgets, in memory: leased minus held. A lease in the store is at
// least what is held here, at every moment, and what is being charged.
import { budgetId } from '../../contract/budgets/budget.ts'
import { ensure } from '../../lib/ensure.ts'
import { InFlight, type Listed } from '../../lib/in-flight.ts'
import type { StoredBudget } from '../../store/ledger/budgets.ts'

export interface BudgetFunds {
  /** As declared, or as it was when it was taken away. */
  budget: StoredBudget
  leasedNanos: bigint
  /** Holds of calls whose charge is not durable yet. */
  heldNanos: bigint
  /** The lease as last written; undefined: unknown. */
  storedNanos: bigint | undefined
  /** Holds and charges may exceed the amount: what becomes free is not used again before a draw. */
  isOver: boolean
  /** At least this much is spent until then: within a period, it never falls. */
  known: { spentNanos: bigint; untilMs: number } | undefined
}

/** The hold of a call in all budgets that it falls under. */
export interface BudgetHold {
  readonly account: AccountBudgets
  /** Budgets that were set while the call runs are added. */
  readonly funds: BudgetFunds[]
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

export interface BudgetWaiter {
  readonly funds: readonly BudgetFunds[]
  readonly nanos: bigint
  resolve(result: BudgetHold | Exhausted): void
  reject(error: unknown): void
}

interface Settling extends Listed {
  readonly ended: Promise<void>
}

/** The budgets of one account, and its calls that wait for room in them. */
export class AccountBudgets {
  readonly id: string
  /** By id; also those taken away while calls hold them. */
  readonly all = new Map<string, BudgetFunds>()
  /** By id. */
  readonly declared = new Map<string, BudgetFunds>()
  waiters: BudgetWaiter[] = []
  serving = false
  readonly #settling = new InFlight<Settling>()
  /** Until then nothing is leased in advance. */
  scarceUntilMs = 0
  askedAtMs = Number.NEGATIVE_INFINITY
  #tail: Promise<unknown> = Promise.resolve()

  constructor(id: string) {
    this.id = id
  }

  /** Charges that are being written; none of them fails. */
  get settling(): Promise<void>[] {
    return Array.from(this.#settling, ({ ended }) => ended)
  }

  /** A charge is being written until this ends, one way or the other. */
  addSettling(settled: Promise<unknown>): void {
    const settling: Settling = { index: -1, ended: settled.then(nothing, nothing) }
    this.#settling.add(settling)
    void settling.ended.then(() => this.#settling.delete(settling))
  }

  /** Writes of its leases, serialised. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(work)
    this.#tail = done.catch(() => {})
    return done
  }
}

/** What is free of charge has room where something is left. */
export function fits({ leasedNanos, heldNanos, budget }: BudgetFunds, nanos: bigint): boolean {
  const leftNanos = leasedNanos - heldNanos
  return leftNanos >= nanos && leftNanos > 0n && budget.amountNanos > 0n
}

/** Without asking the store: what is spent alone leaves no room. */
export const isKnownSpent = (
  { budget, known }: BudgetFunds,
  nanos: bigint,
  nowMs: number,
): boolean =>
  budget.amountNanos === 0n ||
  (known !== undefined && nowMs < known.untilMs && budget.amountNanos - known.spentNanos < nanos)

export function takeHold(hold: BudgetHold): BudgetHold {
  for (const funds of hold.funds) funds.heldNanos += hold.nanos
  return hold
}

/** Held in budgets that were set after it was admitted, whether or not there is room. */
export function adoptCall(
  call: SpendingCall,
  { account, funds }: { account: AccountBudgets; funds: readonly BudgetFunds[] },
): void {
  const { amountNanos: nanos } = call
  for (const each of funds) {
    if (call.budget?.funds.includes(each)) continue
    call.budget ??= { account, funds: [], nanos }
    call.budget.funds.push(each)
    each.heldNanos += nanos
    if (each.leasedNanos >= each.heldNanos) continue
    each.leasedNanos = each.heldNanos
    each.isOver = true
    each.storedNanos = undefined
  }
}

/** Ended, and its charge, if any, is durable: that part is spent and no longer leased. */
export function endBudgetHold({ funds, nanos }: BudgetHold, chargeNanos: bigint): void {
  for (const each of funds) {
    each.heldNanos -= nanos
    ensure(each.heldNanos >= 0n, 'holds of a budget never fall below zero')
    each.leasedNanos -= chargeNanos
    if (each.leasedNanos < each.heldNanos) each.isOver = true
    if (each.isOver) each.leasedNanos = each.heldNanos
  }
}

/** All accounts with budgets. */
export class DeclaredBudgets {
  readonly #accounts = new Map<string, AccountBudgets>()
  /** Most gateways have none, and their calls pay for this check only. */
  any = false

  all(): Iterable<AccountBudgets> {
    return this.#accounts.values()
  }

  find(accountId: string): AccountBudgets | undefined {
    return this.#accounts.get(accountId)
  }

  /**
   * Replaces what was declared. What is leased under other terms is not used any more. Returns the
   * accounts that have a budget which they did not have before.
   */
  declare(budgets: readonly StoredBudget[]): ReadonlySet<AccountBudgets> {
    const known = new Set<string>()
    for (const { declared } of this.#accounts.values()) {
      for (const id of declared.keys()) known.add(id)
      declared.clear()
    }
    const gained = new Set<AccountBudgets>()
    for (const budget of budgets) {
      const account = this.#of(budget.accountId)
      const funds = account.all.get(budget.id) ?? newFunds(budget)
      account.all.set(budget.id, funds)
      account.declared.set(budget.id, funds)
      if (!known.has(budget.id)) gained.add(account)
      if (isSame(funds.budget, budget)) continue
      funds.budget = budget
      funds.known = undefined
      funds.isOver = true
      funds.leasedNanos = funds.heldNanos
    }
    for (const account of this.#accounts.values()) this.#forget(account)
    this.any = budgets.length > 0
    return gained
  }

  /** Budgets that calls fall under; undefined: none. */
  of(
    accountId: string,
    token: string,
    tags: string | undefined,
  ): { account: AccountBudgets; funds: readonly BudgetFunds[] } | undefined {
    const account = this.#accounts.get(accountId)
    if (account === undefined || account.declared.size === 0) return undefined
    const ids = [
      budgetId({ accountId, scope: 'account', subject: accountId }),
      budgetId({ accountId, scope: 'token', subject: token }),
      ...(tags?.split(',') ?? []).map((subject) => budgetId({ accountId, scope: 'tag', subject })),
    ]
    const funds = ids.map((id) => account.declared.get(id)).filter((each) => each !== undefined)
    return funds.length === 0 ? undefined : { account, funds }
  }

  #of(accountId: string): AccountBudgets {
    const known = this.#accounts.get(accountId)
    if (known !== undefined) return known
    const account = new AccountBudgets(accountId)
    this.#accounts.set(accountId, account)
    return account
  }

  #forget(account: AccountBudgets): void {
    for (const [id, { heldNanos, storedNanos }] of account.all) {
      const isUsed = heldNanos > 0n || storedNanos !== 0n || account.serving
      if (!isUsed && !account.declared.has(id)) account.all.delete(id)
    }
    if (account.all.size === 0 && !account.serving) this.#accounts.delete(account.id)
  }
}

const newFunds = (budget: StoredBudget): BudgetFunds => ({
  budget,
  leasedNanos: 0n,
  heldNanos: 0n,
  storedNanos: 0n,
  isOver: false,
  known: undefined,
})

const isSame = (a: StoredBudget, b: StoredBudget): boolean =>
  a.amountNanos === b.amountNanos && a.per === b.per && a.zone === b.zone

function nothing(): void {}
