// The canonical text of a receipt: the same from a ledger entry and from its bill line, so both
// give the same hash. Knows neither hashes nor keys.
import { chargeTexts, type Entry, type EntryKind } from '../ledger.ts'

/** The kinds that move a balance; holds and releases have no receipts. */
export const bookedKinds = [
  'credit',
  'charge',
  'adjust',
  'refund',
] as const satisfies readonly EntryKind[]

/** An entry with its position in the chain of its account. */
export interface ReceiptLine {
  entry: Entry & { id: number }
  /** 1, 2, 3 ... within the account, without gaps. */
  number: number
  /** After the entry. */
  balanceNanos: bigint
}

/** Running balance and running sums. */
export const plus = (nanos: bigint, { amountNanos }: Pick<Entry, 'amountNanos'>): bigint =>
  nanos + amountNanos

export const balanceBefore = ({ balanceNanos, entry }: ReceiptLine): bigint =>
  balanceNanos - entry.amountNanos

/**
 * The text that is hashed. `previous` is the hash of the previous receipt, empty for the first. A
 * JSON array, so that two different lines never give the same text.
 */
export const receiptText = (
  { entry, number, balanceNanos }: ReceiptLine,
  currency: string,
  previous: string,
): string => {
  const cells: unknown[] = [
    'receipt',
    entry.accountId,
    number,
    entry.id,
    entry.atMs,
    entry.kind,
    String(entry.amountNanos),
    currency,
    entry.ref,
    entry.model ?? '',
    entry.unit ?? '',
    entry.tier ?? '',
    entry.quantity === undefined ? '' : String(entry.quantity),
    entry.priceId ?? '',
    entry.tokenId ?? '',
    entry.estimated === true,
    entry.note ?? '',
    String(balanceNanos),
    previous,
  ]
  // Only where there are some: receipts from before there were tags keep their text.
  if (entry.tags) cells.push('tags', entry.tags)
  for (const { column, field } of chargeTexts) {
    const text = entry[field]
    if (text) cells.push(column, text)
  }
  return JSON.stringify(cells)
}

/** The text that a seal signs: the chain of the account up to this number. */
export const sealText = (accountId: string, number: number, hash: string): string =>
  JSON.stringify(['seal', accountId, number, hash])

/** The text that signs a whole table: which lines, how many, and a hash over all their hashes. */
export const tableText = (table: {
  accountId: string
  first: number
  last: number
  lines: number
  digest: string
}): string =>
  JSON.stringify(['lines', table.accountId, table.first, table.last, table.lines, table.digest])

/** An entry's references as the columns of a bill show them. */
export const requestIdOf = (entry: Pick<Entry, 'ref' | 'refundOf' | 'requestId'>) => {
  const id = subjectOf(entry)
  return id.startsWith('req_') ? id : entry.requestId
}

export const taskIdOf = (entry: Pick<Entry, 'ref' | 'refundOf'>): string | undefined => {
  const id = subjectOf(entry)
  return /^(?:video|image|resp|task)_/.test(id) ? id : undefined
}

const subjectOf = ({ ref, refundOf }: Pick<Entry, 'ref' | 'refundOf'>): string => refundOf || ref
