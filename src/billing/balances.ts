// What this gateway can spend of every account, in memory: balance minus holds. The store is
// authoritative; this copy is deducted before a write starts and corrected from the store when one
// fails.
import { ensure } from '../lib/ensure.ts'
import { findAccount } from '../store/catalog/accounts.ts'
import { Rollback, type Store, StoreBusy } from '../store/index.ts'
import { lockCreditLease } from '../store/ledger/credit-leases.ts'
import type { BudgetHold, Spender, SpendingCall } from './budgets/budget-leases.ts'

const rereadEveryMs = 100
/** How often to look whether an account is exact again. */
const staleTries = 20
const staleWaitMs = 50

/** Of one account; only its methods change it. */
export class AccountFunds {
  readonly id: string
  #balanceNanos: bigint
  #callHoldsNanos = 0n
  #taskHoldsNanos: bigint
  #pending = 0
  /** Incremented by every finished write, so that a re-read can detect a race with one. */
  #version = 0
  #stale = false
  #touched = false
  readonly #read: () => Promise<StoredBalance | undefined>

  /** `read`: what is stored; undefined while that is unknown. */
  constructor(
    { id, balanceNanos, heldNanos }: StoredBalance,
    read: () => Promise<StoredBalance | undefined>,
  ) {
    this.id = id
    this.#read = read
    this.#balanceNanos = balanceNanos
    this.#taskHoldsNanos = heldNanos
  }

  /** The account's balance; where gateways share a database, this gateway's credit lease. */
  get balanceNanos(): bigint {
    return this.#balanceNanos
  }

  /** Holds of calls in flight; in memory only, lost with the process. */
  get callHoldsNanos(): bigint {
    return this.#callHoldsNanos
  }

  /** Holds of tasks; each is an entry in the store. Never part of a credit lease. */
  get taskHoldsNanos(): bigint {
    return this.#taskHoldsNanos
  }

  /** Writes in progress. */
  get pending(): number {
    return this.#pending
  }

  /** A write failed in a way that leaves its outcome open; no new holds until re-read. */
  get stale(): boolean {
    return this.#stale
  }

  /** For a call; the caller has seen that there is enough. */
  hold(nanos: bigint): void {
    this.#callHoldsNanos += nanos
  }

  /** The hold of a call has ended. */
  unhold(nanos: bigint): void {
    this.#callHoldsNanos -= nanos
    ensure(this.#callHoldsNanos >= 0n, 'holds of calls never fall below zero')
  }

  /** The hold of a task was booked or, with a negative amount, has ended. */
  holdTask(nanos: bigint): void {
    this.#taskHoldsNanos += nanos
  }

  /** Drawn or credited; with a negative amount, charged or returned. */
  add(nanos: bigint): void {
    this.#balanceNanos += nanos
  }

  /** A call has asked for it. */
  touch(): void {
    this.#touched = true
  }

  /** Since the last time that this was asked. */
  wasTouched(): boolean {
    const was = this.#touched
    this.#touched = false
    return was
  }

  /**
   * A write for the account; if it fails, the account is blocked until re-read from the store. It may
   * have been stored all the same: until then, what it takes counts as taken.
   */
  async tracked<T>(write: () => Promise<T>, takenNanos = 0n): Promise<T> {
    this.beginWrite()
    try {
      return await write()
    } catch (error) {
      this.failWrite(error, takenNanos)
      throw error
    } finally {
      this.endWrite()
    }
  }

  beginWrite(): void {
    this.#pending++
  }

  failWrite(error: unknown, takenNanos = 0n): void {
    if (error instanceof Rollback) return
    this.add(-takenNanos)
    this.suspect()
  }

  endWrite(): void {
    this.#pending--
    this.#version++
  }

  /** A failed write may still have been stored. */
  suspect(): void {
    if (this.#stale) return
    this.#stale = true
    setTimeout(() => this.#reread(), rereadEveryMs)
  }

  /** Resolves when the amounts are exact: until a re-read, there may be more than they say. */
  async known(): Promise<void> {
    for (let tries = 0; this.#stale; tries++) {
      if (tries === staleTries) throw new StoreBusy('the last write has an open outcome')
      await new Promise((go) => setTimeout(go, staleWaitMs))
    }
  }

  async #reread(): Promise<void> {
    const version = this.#version
    const stored = await this.#read().catch(() => undefined)
    if (stored === undefined || this.#version !== version || this.#pending > 0) {
      setTimeout(() => this.#reread(), rereadEveryMs)
      return
    }
    this.#balanceNanos = stored.balanceNanos
    this.#taskHoldsNanos = stored.heldNanos
    this.#stale = false
  }
}

/** For readers. */
export type FundsView = Pick<
  AccountFunds,
  'balanceNanos' | 'callHoldsNanos' | 'taskHoldsNanos' | 'pending' | 'stale'
>

export const availableNanos = (funds: FundsView): bigint =>
  funds.balanceNanos - funds.callHoldsNanos - funds.taskHoldsNanos

/** The hold of a call. */
export interface Hold extends SpendingCall {
  open: boolean
  /** What was held for the same call later; ends with it. */
  more?: Hold
}

/** All that is held for a call. */
export const heldNanos = ({ amountNanos, more }: Hold): bigint =>
  more === undefined ? amountNanos : amountNanos + heldNanos(more)

/** What a call that may cost so much needs beyond its hold. */
export function lackingNanos(hold: Hold, wantedNanos: bigint): bigint {
  const lacking = wantedNanos - heldNanos(hold)
  return lacking > 0n ? lacking : 0n
}

export const newHold = (
  accountId: string,
  amountNanos: bigint,
  spender?: Spender,
  budget?: BudgetHold,
): Hold => ({ index: -1, accountId, amountNanos, open: true, spender, budget })

export interface StoredBalance {
  id: string
  balanceNanos: bigint
  heldNanos: bigint
}

export class Balances {
  readonly #store: Store
  readonly #accounts = new Map<string, AccountFunds>()

  constructor(store: Store) {
    this.#store = store
  }

  all(): Iterable<AccountFunds> {
    return this.#accounts.values()
  }

  /** Only accounts that this gateway has used. */
  peek(accountId: string): AccountFunds | undefined {
    return this.#accounts.get(accountId)
  }

  /** Where gateways share a database, only the store can tell whether an account exists. */
  find(accountId: string): AccountFunds | undefined {
    const funds = this.#accounts.get(accountId)
    if (funds !== undefined || this.#store.cluster === undefined) return funds
    return this.add({ id: accountId, balanceNanos: 0n, heldNanos: 0n })
  }

  of(accountId: string): AccountFunds {
    const funds = this.find(accountId)
    if (funds === undefined) throw new Error(`account ${accountId} is not known`)
    return funds
  }

  add(stored: StoredBalance): AccountFunds {
    const funds = new AccountFunds(stored, () => this.#stored(stored.id))
    this.#accounts.set(stored.id, funds)
    return funds
  }

  /** In a transaction: that comes after all records, and after those whose reply was lost. */
  async #stored(id: string): Promise<StoredBalance | undefined> {
    const store = this.#store
    if (!store.healthy) return undefined
    const gatewayId = store.cluster?.gatewayId
    const stored = await store.tx(async (tx) => {
      if (gatewayId === undefined) return findAccount(tx, id)
      const balanceNanos = await lockCreditLease(tx, { accountId: id, gatewayId })
      return { id, balanceNanos, heldNanos: 0n }
    }, id)
    return store.healthy ? stored : undefined
  }
}

/** What is still to be held where a part is held already. */
export const beyondNanos = (wantedNanos: bigint, heldNanos: bigint): bigint =>
  wantedNanos > heldNanos ? wantedNanos - heldNanos : 0n

export function sumNanos(amounts: readonly bigint[]): bigint {
  let sum = 0n
  for (const nanos of amounts) sum += nanos
  return sum
}

/** How many of these amounts, from the first, the balance covers together. */
export function coveredCount(amounts: readonly bigint[], balanceNanos: bigint): number {
  let left = balanceNanos
  for (const [at, nanos] of amounts.entries()) {
    left -= nanos
    if (left < 0n) return at
  }
  return amounts.length
}
