// Whether an upstream's bill matches our records. Pure. Their amount is a cost and ours a price, so
// quantities are always compared, and amounts only where a factor relates the two.
import type { LineOutcome } from '../../store/ledger/statements.ts'

/** The upstream's side: lines that belong together, summed. */
export interface Theirs {
  lines: number
  /** Undefined where the statement has no such column. */
  quantity: number | undefined
  amountNanos: bigint | undefined
}

/** Our side of the same work. */
export interface Ours {
  /** Whether there is any record. */
  isKnown: boolean
  quantity: number
  amountNanos: bigint
  /** The part that was not billed. */
  lostQuantity: number
  lostNanos: bigint
  isLost: boolean
}

export interface Rule {
  /** Their charge per unit of our price, in billionths; undefined: amounts are not compared. */
  factorNanos: bigint | undefined
  /** Share of an amount, in billionths, by which it may differ. */
  toleranceNanos: bigint
  /** Half of their smallest unit: each of their lines may be rounded by as much. */
  roundingNanos: bigint
}

export const noneOfOurs = (): Ours => ({
  isKnown: false,
  quantity: 0,
  amountNanos: 0n,
  lostQuantity: 0,
  lostNanos: 0n,
  isLost: false,
})

export function addOurs(sum: Ours, part: Omit<Ours, 'isKnown'>): void {
  sum.isKnown = true
  sum.quantity += part.quantity
  sum.amountNanos += part.amountNanos
  sum.lostQuantity += part.lostQuantity
  sum.lostNanos += part.lostNanos
  sum.isLost ||= part.isLost
}

export function judge(theirs: Theirs, ours: Ours, rule: Rule): LineOutcome {
  if (!ours.isKnown) return 'upstream_only'
  const isBilled = ours.quantity > 0 || ours.amountNanos > 0n
  if (!isBilled && ours.isLost) return 'loss'
  if (agrees(theirs.quantity, ours.quantity)) {
    const worth = ours.amountNanos
    return isWorth(theirs, worth, rule, isBilled) ? 'matched' : 'amount_differs'
  }
  const isAll = ours.isLost && agrees(theirs.quantity, ours.quantity + ours.lostQuantity)
  return isAll ? 'loss' : 'quantity_differs'
}

/** Seconds are precise to the thousandth. */
const same = 0.0005

const agrees = (theirs: number | undefined, ours: number): boolean =>
  theirs === undefined || Math.abs(theirs - ours) <= same

const billion = 1_000_000_000n
const size = (nanos: bigint): bigint => (nanos < 0n ? -nanos : nanos)

function isWorth(
  { amountNanos, lines }: Theirs,
  worthNanos: bigint,
  { factorNanos, toleranceNanos, roundingNanos }: Rule,
  isBilled: boolean,
): boolean {
  if (amountNanos === undefined) return true
  const rounding = roundingNanos * BigInt(lines)
  // Work that is free here but not there differs by any factor.
  if (!isBilled) return size(amountNanos) <= rounding
  if (factorNanos === undefined) return true
  const expected = (worthNanos * factorNanos + billion / 2n) / billion
  const slack = (size(expected) * toleranceNanos) / billion + rounding
  return size(amountNanos - expected) <= slack
}

/** Our side, as shown beside the outcome. */
export function shownOurs(ours: Ours, outcome: LineOutcome): { quantity: number; nanos: bigint } {
  return outcome === 'loss'
    ? { quantity: ours.quantity + ours.lostQuantity, nanos: ours.amountNanos + ours.lostNanos }
    : { quantity: ours.quantity, nanos: ours.amountNanos }
}
