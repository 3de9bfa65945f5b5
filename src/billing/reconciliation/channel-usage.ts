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
    costNanos: billed === undefined ? 0n : (billed.costNanos ?? undefined),
    lostQuantity: 0,
    lostNanos: 0n,
    isLost: false,
  }
  const items = billed === undefined ? [] : [own]
  for (const loss of losses) {
    const { upstreamId } = loss
    const isOwn = upstreamId === undefined || work.upstreamIds.includes(upstreamId)
    if (billed === undefined || !isOwn) items.push(lostItem(own, loss))
    else if (loss.reason === 'balance_short') own.amountNanos += loss.amountNanos
    else addLoss(own, loss)
  }
  return items
}

function addLoss(work: ChannelUsage, { quantity = 0, amountNanos }: WorkLoss): void {
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
  costNanos: undefined,
  lostQuantity: loss.quantity ?? 0,
  lostNanos: loss.amountNanos,
  isLost: true,
})
