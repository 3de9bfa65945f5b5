// The ledger's types. Amounts are signed from the account's view: credit +, hold -, release +,
// charge -, refund +, adjust either way.
//
// Every entry is a transfer with two sides; the kind names the other side:
//   credit   funding -> wallet        hold     wallet -> held
//   charge   wallet  -> revenue       release  held   -> wallet
//   adjust   funding <-> wallet       refund   revenue -> wallet
// so the ledger balances by construction: the sum of all entries of an account is its available
// amount, and the sum without holds and releases is its balance.

export const entryKinds = ['credit', 'hold', 'release', 'charge', 'adjust', 'refund'] as const
export type EntryKind = (typeof entryKinds)[number]

/**
 * Texts that a charge, or a refund of one, can have besides. Each is a column of the row of a call, the ledger, receipts, bills
 * and the admin API, which derive it from here. New ones go to the end: receipts without them keep their
 * text, and so do bills of earlier releases.
 */
export const chargeTexts = [
  {
    column: 'served_model',
    field: 'servedModel',
    about: 'The model that served it, if that is not the one that was called.',
  },
  {
    column: 'service_tier',
    field: 'serviceTier',
    about: 'The service tier whose rates it was charged at; null: the plain rates.',
  },
  {
    column: 'refund_of',
    field: 'refundOf',
    about: 'Of a refund: the request or task whose charge it gives back.',
  },
] as const

type ChargeText = (typeof chargeTexts)[number]
export type ChargeTextColumn = ChargeText['column']
export type ChargeTexts = { [Text in ChargeText as Text['field']]?: string | undefined }

/** A value for each column of these texts. */
export const chargeTextColumns = <T>(of: (text: ChargeText) => T): Record<ChargeTextColumn, T> =>
  Object.fromEntries(chargeTexts.map((text) => [text.column, of(text)])) as Record<
    ChargeTextColumn,
    T
  >

export interface Entry extends ChargeTexts {
  atMs: number
  accountId: string
  kind: EntryKind
  amountNanos: bigint
  /** Request id, task id, credit id or refund id; with the kind it makes the entry unique. */
  ref: string
  /** The token that spent it. */
  tokenId?: string | undefined
  model?: string | undefined
  unit?: string | undefined
  /** The rate of its price that was used, where the price has several. */
  tier?: string | undefined
  quantity?: number | undefined
  priceId?: string | undefined
  estimated?: boolean | undefined
  note?: string
  /** Tags and end user of the call or task: see tags.ts. */
  tags?: string | undefined
  /** Of a charge: what upstreams take for the work, for the totals alone; absent: not known. */
  costNanos?: bigint | undefined
  /** Of a charge or a refund: the channel that served the work, for the totals alone; absent: not known. */
  channel?: string | undefined
  /** The request that created the task in `ref`; joined on reading, never stored. */
  requestId?: string
}

/** Why upstream work was not charged. */
export const lossReasons = [
  'balance_short', // it cost more than the account had
  'failed_after_cost', // the upstream broke off, stalled or sent invalid data after it had begun
  'caller_left', // the caller had left, and reading on reached its limit
  'not_delivered', // done upstream, but the result could not be delivered
  'implausible_usage', // the upstream reported more than the request allows and the answer shows
  'late_success', // the task was already abandoned when the upstream finished it
  'unknown_create', // the task of a create with a lost reply
  'second_task', // the upstream made more than one task for one create
] as const
export type LossReason = (typeof lossReasons)[number]

/** Upstream work at the operator's cost; the amount is what the caller would have paid. */
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
  /** The amount is an estimate, not what an upstream reported. */
  isEstimate: boolean
}
