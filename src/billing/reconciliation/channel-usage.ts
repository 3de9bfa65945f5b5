// A piece of work as a statement is compared with it: what was billed for it and what was lost of it,
// apart. Of one call or task there may be several, where an upstream has several names for it.
import type { WorkLoss, WorkRow } from '../../store/ledger/channel-usage.ts'

export interface ChannelUsage {
  ref: string
  atMs: number
  upstreamIds: readonly string[]
  model: string
  upstreamModel: string
  /** As billed to the caller. */
  quantity: number
  /** What it is worth at its price, whether the caller could pay all of it or not. */
  amountNanos: bigint
  /** What of it nobody was billed for. */
  lostQuantity: number
  lostNanos: bigint
  isLost: boolean
}

/** What was lost of it under its own names belongs to it; the rest is work of its own. */
export function piecesOf(row: WorkRow): ChannelUsage[] {
  const { losses, billed, ...work } = row
  const own: ChannelUsage = {
    ...work,
    quantity: billed?.quantity ?? 0,
    amountNanos: billed?.chargeNanos ?? 0n,
    lostQuantity: 0,
    lostNanos: 0n,
    isLost: false,
  }
  const pieces = billed === undefined ? [] : [own]
  for (const loss of losses) {
    const { upstreamId } = loss
    const isOwn = upstreamId === undefined || work.upstreamIds.includes(upstreamId)
    if (billed === undefined || !isOwn) pieces.push(lostPiece(own, loss))
    else if (loss.reason === 'balance_short') own.amountNanos += loss.amountNanos
    else addLoss(own, loss)
  }
  return pieces
}

function addLoss(work: ChannelUsage, { quantity = 0, amountNanos }: WorkLoss): void {
  work.lostQuantity += quantity
  work.lostNanos += amountNanos
  work.isLost = true
}

const lostPiece = (own: ChannelUsage, loss: WorkLoss): ChannelUsage => ({
  ...own,
  atMs: loss.atMs,
  upstreamIds: loss.upstreamId === undefined ? [] : [loss.upstreamId],
  quantity: 0,
  amountNanos: 0n,
  lostQuantity: loss.quantity ?? 0,
  lostNanos: loss.amountNanos,
  isLost: true,
})
