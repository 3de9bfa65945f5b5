// Whether an upstream's bill matches our records. Pure. Quantities are always compared, and amounts with what the
// work costs where that is known. Where a factor is given, they are compared with our price times that.
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
  /** What it costs; undefined: not known of all of it. */
  costNanos: bigint | undefined
  /** The part that was not billed. */
  lostQuantity: number
  lostNanos: bigint
  isLost: boolean
}

export interface Rule {
  /** Their charge per unit of our price, in billionths; undefined: amounts are compared with costs. */
  factorNanos: bigint | undefined
  /** Share of an amount, in billionths, by which it may differ. */
  toleranceNanos: bigint
  /** Half of their smallest unit: each of their lines may be rounded by as much. */
  roundingNanos: bigint
  /** Amounts alone decide whether lines match; quantities say why they do not. */
  isByAmount?: boolean
}

export const noneOfOurs = (): Ours => ({
  isKnown: false,
  quantity: 0,
  amountNanos: 0n,
  costNanos: 0n,
  lostQuantity: 0,
  lostNanos: 0n,
  isLost: false,
})

export function addOurs(sum: Ours, part: Omit<Ours, 'isKnown'>): void {
  sum.isKnown = true
  sum.quantity += part.quantity
  sum.amountNanos += part.amountNanos
  const isCosted = sum.costNanos !== undefined && part.costNanos !== undefined
  sum.costNanos = isCosted ? sum.costNanos! + part.costNanos! : undefined
  sum.lostQuantity += part.lostQuantity
  sum.lostNanos += part.lostNanos
  sum.isLost ||= part.isLost
}

export function judge(theirs: Theirs, ours: Ours, rule: Rule): LineOutcome {
  if (!ours.isKnown) return 'upstream_only'
  const isBilled = ours.quantity > 0 || ours.amountNanos > 0n
  if (!isBilled && ours.isLost) return 'loss'
  if (rule.isByAmount) return judgeAmount(theirs, ours, rule, isBilled)
  if (agrees(theirs.quantity, ours.quantity)) {
    return isWorth(theirs, ours, rule, isBilled) ? 'matched' : 'amount_differs'
  }
  const isAll = ours.isLost && agrees(theirs.quantity, ours.quantity + ours.lostQuantity)
  return isAll ? 'loss' : 'quantity_differs'
}

/** Seconds are precise to the thousandth. */
const same = 0.0005

const agrees = (theirs: number | undefined, ours: number): boolean =>
  theirs === undefined || Math.abs(theirs - ours) <= same

function judgeAmount(theirs: Theirs, ours: Ours, rule: Rule, isBilled: boolean): LineOutcome {
  const isSameWork = isAbout(theirs.quantity, ours, rule)
  if (!isWorth(theirs, ours, rule, isBilled)) {
    return isSameWork ? 'amount_differs' : 'quantity_differs'
  }
  return isSameWork || expectedOf(ours, rule) !== undefined ? 'matched' : 'quantity_differs'
}

/** Within the tolerance, with what was lost or without; none is as good as not reported. */
function isAbout(theirs: number | undefined, ours: Ours, { toleranceNanos }: Rule): boolean {
  if (theirs === undefined || theirs === 0) return true
  const slack = 1 + Number(toleranceNanos) / 1e9
  const maxQuantity = (ours.quantity + ours.lostQuantity) * slack + same
  return theirs <= maxQuantity && theirs >= ours.quantity / slack - same
}

const billion = 1_000_000_000n
const size = (nanos: bigint): bigint => (nanos < 0n ? -nanos : nanos)

/** What the upstream should take for it; undefined: not known. */
export const expectedOf = (
  ours: Pick<Ours, 'amountNanos' | 'costNanos'>,
  { factorNanos }: Rule,
): bigint | undefined =>
  factorNanos === undefined
    ? ours.costNanos
    : (ours.amountNanos * factorNanos + billion / 2n) / billion

function isWorth(
  { amountNanos, lines }: Theirs,
  ours: Ours,
  rule: Rule,
  isBilled: boolean,
): boolean {
  if (amountNanos === undefined) return true
  const rounding = rule.roundingNanos * BigInt(lines)
  // Work that is free here but not there differs by any factor.
  if (!isBilled) return size(amountNanos) <= rounding
  const expected = expectedOf(ours, rule)
  if (expected === undefined) return true
  const slack = (size(expected) * rule.toleranceNanos) / billion + rounding
  return size(amountNanos - expected) <= slack
}

/** Our side, as shown beside the outcome: what their amount was compared with, or our price. */
export function shownOurs(
  ours: Ours,
  outcome: LineOutcome,
  { factorNanos }: Rule,
): { quantity: number; nanos: bigint } {
  if (outcome === 'loss') {
    const { quantity, lostQuantity, amountNanos, lostNanos } = ours
    return { quantity: quantity + lostQuantity, nanos: amountNanos + lostNanos }
  }
  const costNanos = factorNanos === undefined ? ours.costNanos : undefined
  return { quantity: ours.quantity, nanos: costNanos ?? ours.amountNanos }
}
