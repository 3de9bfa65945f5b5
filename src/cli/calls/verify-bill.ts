// Whether the lines of a bill are what the gateway signed: every hash, the chain they form, the
// running balance and the signatures, line by line. Needs nothing but the lines.
import { type BillLine, readBillLine } from '../../contract/bills/bill-line.ts'
import {
  balanceBefore,
  plus,
  receiptText,
  sealText,
  tableText,
} from '../../contract/bills/receipt.ts'
import { hashText, isSigned, newDigest } from '../../lib/crypto/signing.ts'

export interface VerifiedBill {
  accountId: string
  currency: string
  lines: number
  first: number
  last: number
  fromMs: number
  untilMs: number
  openingNanos: bigint
  closingNanos: bigint
  sumNanos: bigint
  chargedNanos: bigint
  /** Receipts between the first and the last that are not of this table, as the gateway signed. */
  elsewhere: number
  seals: number
  keys: readonly string[]
}

/** Takes lines in order; the first one that is wrong ends it. */
export class BillCheck {
  readonly #wantedKey: string | undefined
  readonly #digest = newDigest()
  readonly #keys = new Set<string>()
  #first: BillLine | undefined
  #above: BillLine | undefined
  #lines = 0
  #seals = 0
  #lastSealed = 0
  #elsewhere = 0
  #sumNanos = 0n
  #chargesNanos = 0n
  #fromMs = Number.POSITIVE_INFINITY
  #untilMs = 0

  constructor(wantedKey?: string) {
    this.#wantedKey = wantedKey
  }

  /** What is wrong with the line, if anything is. */
  add(cells: readonly string[]): string | undefined {
    const line = readBillLine(cells)
    if (typeof line === 'string') return line
    const problem = this.#problemOf(line)
    if (problem !== undefined) return problem
    const { entry } = line
    this.#first ??= line
    this.#above = line
    this.#lines++
    this.#digest.add(line.hash)
    this.#sumNanos = plus(this.#sumNanos, entry)
    if (entry.kind === 'charge') this.#chargesNanos = plus(this.#chargesNanos, entry)
    this.#fromMs = Math.min(this.#fromMs, entry.atMs)
    this.#untilMs = Math.max(this.#untilMs, entry.atMs)
    return undefined
  }

  #problemOf(line: BillLine): string | undefined {
    const above = this.#above
    if (above !== undefined && above.billSignature !== '') {
      return 'it comes after the line that ends the bill'
    }
    const problem = above === undefined ? problemOfFirst(line) : this.#problemBelow(above, line)
    if (problem !== undefined) return problem
    const isNext = above !== undefined && line.number === above.number + 1
    const previous = isNext ? above.hash : line.previous
    if (hashText(receiptText(line, line.currency, previous)) !== line.hash) {
      return 'it is not what was booked: its hash does not belong to it or to the line before it'
    }
    return line.signature === '' ? undefined : this.#problemOfSeal(line)
  }

  #problemBelow(above: BillLine, line: BillLine): string | undefined {
    const { entry, number, previous, currency, balanceNanos } = line
    if (entry.accountId !== above.entry.accountId) return 'it is of another account'
    if (currency !== above.currency) return 'it is in another currency'
    if (number === above.number) return `receipt ${number} is there twice`
    if (number < above.number) return `receipt ${number} stands below receipt ${above.number}`
    if (number > above.number + 1) {
      this.#elsewhere += number - above.number - 1
      const gap = `receipts ${above.number + 1} to ${number - 1} are missing before it`
      return previous === '' ? gap : undefined
    }
    if (previous !== '') return 'it repeats the hash of the line above'
    return balanceNanos === plus(above.balanceNanos, entry)
      ? undefined
      : 'its balance is not that of the line above plus its amount'
  }

  #problemOfSeal({ entry, number, hash, key, signature }: BillLine): string | undefined {
    if (this.#wantedKey !== undefined && key !== this.#wantedKey) {
      return `it is signed with another key: ${key}`
    }
    if (!isSigned(sealText(entry.accountId, number, hash), key, signature)) {
      return 'its signature is not valid'
    }
    this.#keys.add(key)
    this.#seals++
    this.#lastSealed = this.#lines + 1
    return undefined
  }

  /** When all lines were added. A text is what is wrong. */
  end(): VerifiedBill | string {
    const [first, last] = [this.#first, this.#above]
    if (first === undefined || last === undefined) return 'it has no lines, so nothing is proved'
    const unsigned = this.#lines - this.#lastSealed
    if (unsigned > 0 || last.billSignature === '') {
      return (
        `its end is not signed (${unsigned} lines): lines were taken off, ` +
        'or the gateway found its books altered and would not sign'
      )
    }
    const { accountId } = last.entry
    const numbers = { first: first.number, last: last.number, lines: this.#lines }
    const text = tableText({ accountId, ...numbers, digest: this.#digest.end() })
    if (!isSigned(text, last.key, last.billSignature)) {
      return 'the signature over all its lines is not valid: lines were taken out'
    }
    return {
      accountId,
      currency: last.currency,
      ...numbers,
      fromMs: this.#fromMs,
      untilMs: this.#untilMs,
      openingNanos: balanceBefore(first),
      closingNanos: last.balanceNanos,
      sumNanos: this.#sumNanos,
      chargedNanos: -this.#chargesNanos,
      elsewhere: this.#elsewhere,
      seals: this.#seals,
      keys: [...this.#keys],
    }
  }
}

/** It has no line above to be compared with. */
function problemOfFirst({ number, previous, entry, balanceNanos }: BillLine) {
  if (number > 1)
    return previous === '' ? 'the hash of the receipt before it is missing' : undefined
  if (previous !== '') return 'it is the first receipt and names one before it'
  return balanceNanos === entry.amountNanos ? undefined : 'its balance is not its amount'
}

/** One receipt alone. A text is what is wrong with it. */
export function verifyReceipt(cells: readonly string[], wantedKey?: string): BillLine | string {
  const line = readBillLine(cells)
  if (typeof line === 'string') return line
  const problem = new BillCheck(wantedKey).add(cells)
  if (problem !== undefined) return problem
  return line.signature === '' ? 'it is not signed' : line
}
