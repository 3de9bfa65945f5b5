// What every account can spend right now, in memory: balance minus holds. The store is the truth;
// this is its shadow, deducted before a write starts and corrected from the store when one fails.

export interface AccountFunds {
  readonly id: string
  balanceNanos: bigint
  /** Holds of calls in flight; they live in memory only and die with the process. */
  callHoldsNanos: bigint
  /** Holds of tasks; each is an entry in the store. */
  taskHoldsNanos: bigint
  /** Writes on their way to the store. */
  pending: number
  /** Grows with every finished write, so that a re-read can tell whether it raced with one. */
  version: number
  /** A write failed in a way that leaves its outcome open; no new holds until re-read. */
  stale: boolean
}

export const availableNanos = (funds: AccountFunds): bigint =>
  funds.balanceNanos - funds.callHoldsNanos - funds.taskHoldsNanos

export interface StoredBalance {
  id: string
  balanceNanos: bigint
  heldNanos: bigint
}

export function fundsFrom(stored: StoredBalance): AccountFunds {
  return {
    id: stored.id,
    balanceNanos: stored.balanceNanos,
    callHoldsNanos: 0n,
    taskHoldsNanos: stored.heldNanos,
    pending: 0,
    version: 0,
    stale: false,
  }
}
