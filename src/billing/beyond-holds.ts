// What the charge of a call needs beyond its hold, reserved before the hold ends so that no other
// call takes it. Free credit at every gateway counts; only the rest is short, and an account gets
// one answer between two credits that its balance does not cover.
import { gatewayOf, type Store } from '../store/index.ts'
import { claimShort } from '../store/ledger/short-accounts.ts'
import { type AccountFunds, availableNanos, type Hold, heldNanos } from './balances.ts'
import type { CreditLeases } from './credit/credit-leases.ts'

export class BeyondHolds {
  readonly #store: Store
  readonly #creditLeases: CreditLeases | undefined

  constructor(store: Store, creditLeases: CreditLeases | undefined) {
    this.#store = store
    this.#creditLeases = creditLeases
  }

  /**
   * Returns the total reserved for the charge, the hold included: less than it needs only for the
   * one answer that the balance does not cover. Undefined: the account has had that one, and only
   * the hold is left, still open.
   */
  async reserve(
    funds: AccountFunds,
    hold: Hold,
    amountNanos: bigint,
    ref: string,
  ): Promise<bigint | undefined> {
    let reservedNanos = heldNanos(hold)
    let isClaimed = false
    const claim = { accountId: funds.id, ref, gatewayId: gatewayOf(this.#store) }
    try {
      for (;;) {
        const lackingNanos = amountNanos - backedNanos(funds, reservedNanos)
        if (lackingNanos <= 0n) return reservedNanos
        // Only the answer that may be short takes a part: others may need it meanwhile.
        const extraNanos = await this.#extra(funds, lackingNanos, isClaimed)
        reservedNanos += extraNanos
        if (extraNanos >= lackingNanos) continue
        if (isClaimed) return reservedNanos
        isClaimed = await this.#store.tx((tx) => claimShort(tx, claim), funds.id)
        if (isClaimed) continue
        funds.unhold(reservedNanos - heldNanos(hold))
        hold.open = true
        return undefined
      }
    } catch (error) {
      // An unknown result is not a loss yet: the call ends like one whose charge was not written.
      funds.unhold(reservedNanos)
      throw error
    }
  }

  /** All of it or nothing, or with `takesLess` what is available. */
  async #extra(funds: AccountFunds, lackingNanos: bigint, takesLess: boolean): Promise<bigint> {
    const free = availableNanos(funds)
    const isKnown = this.#creditLeases === undefined || !funds.stale
    if (free >= lackingNanos && isKnown) {
      funds.hold(lackingNanos)
      return lackingNanos
    }
    if (this.#creditLeases !== undefined) {
      const lease = this.#creditLeases.of(funds)
      return (await lease.reserve(lackingNanos, { takesLess, isFresh: true })) ?? 0n
    }
    if (funds.stale) {
      await funds.known()
      return this.#extra(funds, lackingNanos, takesLess)
    }
    const extraNanos = takesLess && free > 0n ? free : 0n
    funds.hold(extraNanos)
    return extraNanos
  }
}

/** The part of a reserved amount with credit behind it: an evicted gateway has lost its leases. */
export function backedNanos(funds: AccountFunds, reservedNanos: bigint): bigint {
  const missing = availableNanos(funds)
  if (missing >= 0n) return reservedNanos
  return -missing >= reservedNanos ? 0n : reservedNanos + missing
}
