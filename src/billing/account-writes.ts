// Transactions that change an account's balance: corrections, and the holds of tasks and their
// ends. The amount is reserved in memory while it is written; where gateways share a database, it
// is reserved in the database, and all gateways return unused credit for it.
import type { Store, Tx } from '../store/index.ts'
import { lockFreeNanos } from '../store/ledger/credit-leases.ts'
import { type AccountFunds, availableNanos, type Balances } from './balances.ts'
import type { CreditLeases } from './credit-leases.ts'
import { type BeyondHold, type EndingHold, endHold } from './end-hold.ts'

export class AccountWrites {
  readonly #store: Store
  readonly #balances: Balances
  readonly #creditLeases: CreditLeases | undefined
  readonly #onEntry: () => void

  constructor(
    store: Store,
    balances: Balances,
    creditLeases: CreditLeases | undefined,
    onEntry: () => void,
  ) {
    this.#store = store
    this.#balances = balances
    this.#creditLeases = creditLeases
    this.#onEntry = onEntry
  }

  /** Ends a task's hold; the part of its charge beyond the hold comes from the free balance. */
  async endTask(ending: EndingHold): Promise<boolean> {
    const funds = this.#balances.of(ending.accountId)
    const isShared = this.#creditLeases !== undefined
    const beyond: BeyondHold = { reservedNanos: isShared ? undefined : 0n, isLast: false }
    try {
      for (let tries = 0; ; tries++) {
        const ended = await this.#balances.tracked(funds, () =>
          this.#store.tx((tx) => endHold(tx, ending, beyond), ending.accountId),
        )
        if (ended === undefined) return false
        if ('missingNanos' in ended) {
          if (this.#creditLeases === undefined) setAside(funds, beyond, ended.missingNanos)
          else beyond.isLast = !(await this.#creditLeases.gather(funds, tries))
          continue
        }
        this.booked(funds, () => {
          funds.taskHoldsNanos -= ended.heldNanos
          funds.balanceNanos -= ended.chargeNanos
        })
        return true
      }
    } finally {
      funds.callHoldsNanos -= beyond.reservedNanos ?? 0n
    }
  }

  /**
   * A write that takes money from an account, if there is enough: reserved in memory while it is
   * written, or taken by the store after all gateways return unused credit.
   */
  async take(
    accountId: string,
    amountNanos: bigint,
    write: (tx: Tx) => Promise<'done' | 'repeated'>,
    shadow: (funds: AccountFunds) => void,
  ): Promise<'done' | 'repeated' | 'insufficient'> {
    const funds = this.#balances.of(accountId)
    const isShared = this.#creditLeases !== undefined
    if (!isShared && amountNanos > 0n) {
      if (funds.stale || availableNanos(funds) < amountNanos) return 'insufficient'
      funds.callHoldsNanos += amountNanos
    }
    let written: 'done' | 'repeated' | 'insufficient' | undefined
    try {
      for (let tries = 0; ; tries++) {
        written = await this.#balances.tracked(funds, () =>
          this.#store.tx(async (tx) => {
            const free =
              isShared && amountNanos > 0n ? await lockFreeNanos(tx, accountId) : undefined
            return free !== undefined && free < amountNanos ? 'insufficient' : write(tx)
          }, accountId),
        )
        if (written !== 'insufficient') return written
        if (!(await this.#creditLeases?.gather(funds, tries))) return written
      }
    } finally {
      if (!isShared && amountNanos > 0n) funds.callHoldsNanos -= amountNanos
      if (written === 'done') this.booked(funds, () => shadow(funds))
    }
  }

  /** The in-memory balance follows what was written; a lease changes only by what it pays for. */
  booked(funds: AccountFunds, shadow: () => void): void {
    this.#onEntry()
    if (this.#creditLeases === undefined) shadow()
    else this.#creditLeases.freed(funds)
  }
}

/** Keeps the amount from calls while a charge beyond its hold is written. */
function setAside(funds: AccountFunds, beyond: BeyondHold, missingNanos: bigint): void {
  const free = availableNanos(funds)
  const most = free > 0n ? free : 0n
  beyond.reservedNanos = missingNanos < most ? missingNanos : most
  beyond.isLast = true
  funds.callHoldsNanos += beyond.reservedNanos
}
