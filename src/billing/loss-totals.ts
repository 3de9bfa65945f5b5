// Totals of losses, overall and by one of their properties.
import type { LossSum } from '../store/ledger/losses.ts'

export type LossTotal = Pick<LossSum, 'losses' | 'amountNanos' | 'estimatedNanos'>

export function totalLosses(sums: readonly LossTotal[]): LossTotal {
  const total = { losses: 0, amountNanos: 0n, estimatedNanos: 0n }
  for (const sum of sums) {
    total.losses += sum.losses
    total.amountNanos += sum.amountNanos
    total.estimatedNanos += sum.estimatedNanos
  }
  return total
}

/** Largest first. */
export function groupLosses(
  sums: readonly LossSum[],
  field: 'reason' | 'channel' | 'model',
): (LossTotal & { name: string })[] {
  const groups = Map.groupBy(sums, (sum) => sum[field])
  return [...groups]
    .map(([name, members]) => ({ name, ...totalLosses(members) }))
    .sort((a, b) => (a.amountNanos < b.amountNanos ? 1 : -1))
}
