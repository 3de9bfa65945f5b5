// The words of the ledger. Amounts are signed as the account feels them: credit +, hold -,
// release +, charge -, adjust either way.
//
// Every entry is a transfer with two sides; the kind names the other side:
//   credit   funding -> wallet        hold     wallet -> held
//   charge   wallet  -> revenue       release  held   -> wallet
//   adjust   funding <-> wallet
// so the books balance by construction, the sum of all entries of an account is what is available,
// and the sum without holds and releases is its balance.

export const entryKinds = ['credit', 'hold', 'release', 'charge', 'adjust'] as const
export type EntryKind = (typeof entryKinds)[number]

export interface Entry {
  atMs: number
  accountId: string
  kind: EntryKind
  amountNanos: bigint
  /** Request id, task id or credit id; with the kind it makes the entry happen once only. */
  ref: string
  /** The credential it was spent with. */
  tokenId?: string
  model?: string
  unit?: string
  /** Which rate of its price was used, where the price has several. */
  tier?: string
  quantity?: number
  priceId?: string
  estimated?: boolean
  note?: string
  /** The request that made the task which is its ref; read with it, never stored. */
  requestId?: string
}

/** Why nobody paid for work that an upstream did. */
export const lossReasons = [
  'balance_short', // it cost more than the account had
  'failed_after_cost', // the upstream broke off, stalled or made no sense after it had begun
  'caller_left', // nobody was there any more, and reading on had its limit
  'not_delivered', // done upstream, but the result could not be handed over
  'late_success', // the task had been given up when the upstream finished it
  'unknown_create', // the task of a create that nobody heard of again
  'second_task', // the upstream made more than one task of one create
] as const
export type LossReason = (typeof lossReasons)[number]

/** Upstream work that the operator bears; what it would have cost its caller. */
export interface Loss {
  atMs: number
  accountId: string
  /** Request or task id. */
  ref: string
  reason: LossReason
  channel: string
  model: string
  upstreamId?: string
  unit?: string
  quantity?: number
  amountNanos: bigint
  /** The amount is our guess, not what an upstream reported. */
  isEstimate: boolean
}
