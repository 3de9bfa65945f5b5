// How far the writing of receipts has come, and what one chunk of it did.

/** One pass over all entries without a receipt. */
export interface ReceiptPass {
  afterId: number
  /** No entry can appear at or below this id. */
  settledId: number
  chunks: number
}

export interface Booked {
  entries: number
  accounts: readonly string[]
  /** Position to continue from; absent at the end. */
  pass?: ReceiptPass
  /** Entries may still appear below the position: run again shortly. */
  unsettled?: true
}
