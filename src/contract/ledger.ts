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
  model?: string
  unit?: string
  quantity?: number
  priceId?: string
  estimated?: boolean
  note?: string
}
