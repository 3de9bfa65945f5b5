// What this gateway can spend of every account, in memory: balance minus holds. The store is
// authoritative; this copy is deducted before a write starts and corrected from the store when one
// fails.
import { ensure } from '../lib/ensure.ts'
import { findAccount } from '../store/catalog/accounts.ts'
import { Rollback, type Store } from '../store/index.ts'
import { readCreditLease } from '../store/ledger/credit-leases.ts'
import type { BudgetHold, Spender, SpendingCall } from './budgets/budget-funds.ts'

export interface AccountFunds {
  readonly id: string
  /** The account's balance; where gateways share a database, this gateway's credit lease. */
  balanceNanos: bigint
  /** Holds of calls in flight; in memory only, lost with the process. */
  callHoldsNanos: bigint
  /** Holds of tasks; each is an entry in the store. Never part of a credit lease. */
  taskHoldsNanos: bigint
  /** Writes in progress. */
  pending: number
  /** Incremented by every finished write, so that a re-read can detect a race with one. */
  version: number
  /** A write failed in a way that leaves its outcome open; no new holds until re-read. */
  stale: boolean
  /** Used since the last check. */
  touched: boolean
}

export const availableNanos = (funds: AccountFunds): bigint =>
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

/** The hold of a call has ended. */
export function unhold(funds: AccountFunds, amountNanos: bigint): void {
  funds.callHoldsNanos -= amountNanos
  ensure(funds.callHoldsNanos >= 0n, 'holds of calls never fall below zero')
}

export interface StoredBalance {
  id: string
  balanceNanos: bigint
  heldNanos: bigint
}

const rereadEveryMs = 100

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
    ensure(funds !== undefined, `account ${accountId} is known`)
    return funds
  }

  add(stored: StoredBalance): AccountFunds {
    const funds: AccountFunds = {
      id: stored.id,
      balanceNanos: stored.balanceNanos,
      callHoldsNanos: 0n,
      taskHoldsNanos: stored.heldNanos,
      pending: 0,
      version: 0,
      stale: false,
      touched: false,
    }
    this.#accounts.set(stored.id, funds)
    return funds
  }

  /** A write for the account; if it fails, the account is blocked until re-read from the store. */
  async tracked<T>(funds: AccountFunds, write: () => Promise<T>): Promise<T> {
    funds.pending++
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof Rollback)) this.suspect(funds)
      throw error
    } finally {
      funds.pending--
      funds.version++
    }
  }

  /** A failed write may still have been stored. */
  suspect(funds: AccountFunds): void {
    if (funds.stale) return
    funds.stale = true
    setTimeout(() => this.#reread(funds), rereadEveryMs)
  }

  async #reread(funds: AccountFunds): Promise<void> {
    const version = funds.version
    const stored = await this.#stored(funds.id).catch(() => undefined)
    const raced = funds.version !== version || funds.pending > 0
    if (stored === undefined || raced || !this.#store.healthy) {
      setTimeout(() => this.#reread(funds), rereadEveryMs)
      return
    }
    funds.balanceNanos = stored.balanceNanos
    funds.taskHoldsNanos = stored.heldNanos
    funds.stale = false
  }

  async #stored(accountId: string): Promise<Omit<StoredBalance, 'id'> | undefined> {
    const { cluster, read } = this.#store
    if (cluster === undefined) return findAccount(read, accountId)
    const balanceNanos = await readCreditLease(read, { accountId, gatewayId: cluster.gatewayId })
    return { balanceNanos, heldNanos: 0n }
  }
}
