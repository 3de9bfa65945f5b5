// A unit of work as compared with a statement: its billed and lost parts, separately. One call or
// task may have several, where an upstream has several ids for it.
import type { WorkLoss, WorkRow } from '../../store/ledger/channel-usage.ts'

export interface ChannelUsage {
  ref: string
  atMs: number
  upstreamIds: readonly string[]
  model: string
  upstreamModel: string
  /** As billed to the caller. */
  quantity: number
  /** Its value at its price, whether the caller could pay all of it or not. */
  amountNanos: bigint
  /** What the upstream takes for it; undefined: not known. */
  costNanos: bigint | undefined
  /** The part that was not billed. */
  lostQuantity: number
  lostNanos: bigint
  isLost: boolean
}

/** A loss under one of the work's own ids belongs to it; other losses are separate work. */
export function usageItems(row: WorkRow): ChannelUsage[] {
  const { losses, billed, ...work } = row
  const own: ChannelUsage = {
    ...work,
    quantity: billed?.quantity ?? 0,
    amountNanos: billed?.chargeNanos ?? 0n,
    costNanos: isIdle(row) ? 0n : (billed?.costNanos ?? undefined),
    lostQuantity: 0,
    lostNanos: 0n,
    isLost: false,
  }
  const items = billed === undefined ? [] : [own]
  for (const loss of losses) {
    const { upstreamId } = loss
    const isOwn = upstreamId === undefined || work.upstreamIds.includes(upstreamId)
    if (billed === undefined || !isOwn) items.push(lostItem(own, loss))
    else addLoss(own, loss)
  }
  return items
}

/** Nothing is known to have been done: it failed, or another channel did it. */
const isIdle = ({ billed, losses }: WorkRow): boolean =>
  billed === undefined ||
  (billed.quantity === 0 && billed.chargeNanos === 0n && losses.length === 0)

function addLoss(work: ChannelUsage, loss: WorkLoss): void {
  const { reason, quantity = 0, amountNanos, costNanos } = loss
  const isKnown = work.costNanos !== undefined && costNanos !== null
  work.costNanos = isKnown ? work.costNanos! + costNanos : undefined
  if (reason === 'balance_short') {
    work.amountNanos += amountNanos
    return
  }
  work.lostQuantity += quantity
  work.lostNanos += amountNanos
  work.isLost = true
}

const lostItem = (own: ChannelUsage, loss: WorkLoss): ChannelUsage => ({
  ...own,
  atMs: loss.atMs,
  upstreamIds: loss.upstreamId === undefined ? [] : [loss.upstreamId],
  quantity: 0,
  amountNanos: 0n,
  costNanos: loss.costNanos ?? undefined,
  lostQuantity: loss.quantity ?? 0,
  lostNanos: loss.amountNanos,
  isLost: true,
})
