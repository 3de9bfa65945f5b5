// When a balance falls below its account's threshold: once, until a credit lifts it again or the
// threshold is changed.
import type { LowState, Movement, WatchedAccount } from '../store/deliveries/low-balances.ts'

interface Crossing {
  balanceNanos: bigint
  thresholdNanos: bigint
}

/** The crossings that these movements of one account make, in their order, and the state afterwards. */
export function crossingsOf(
  account: WatchedAccount,
  movements: readonly Movement[],
): { crossings: Crossing[]; state: LowState | undefined } {
  const crossings: Crossing[] = []
  let { balanceNanos } = account
  // A threshold that is new has told nothing yet.
  let { thresholdNanos, isLow } = account.state ?? { thresholdNanos: 0n, isLow: false }
  for (const { amountNanos, isCredit } of movements) {
    balanceNanos += amountNanos
    if (isLow) {
      if (isCredit && balanceNanos >= thresholdNanos) isLow = false
    } else if (account.state !== undefined && balanceNanos < thresholdNanos) {
      isLow = true
      crossings.push({ balanceNanos, thresholdNanos })
    }
  }
  if (account.state === undefined || thresholdNanos !== account.thresholdNanos) {
    thresholdNanos = account.thresholdNanos
    const isBelow = balanceNanos < thresholdNanos
    // Entries that are yet to be read decide: until then the threshold is as it was.
    if (isBelow !== account.nowNanos < thresholdNanos) {
      return { crossings, state: account.state && { ...account.state, isLow } }
    }
    if (isBelow && !isLow) crossings.push({ balanceNanos: account.nowNanos, thresholdNanos })
    isLow = isBelow
  }
  return { crossings, state: { thresholdNanos, isLow } }
}
