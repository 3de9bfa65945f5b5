// All lines of a bill, in order and a bounded number at a time, in a form that the recipient can
// verify. The gateway signs the end of the table only if every line is what was booked.
import type { BillLine } from '../../contract/bills/bill-line.ts'
import { receiptText, tableText } from '../../contract/bills/receipt.ts'
import { hashText, newDigest } from '../../lib/crypto/signing.ts'
import type { Tx } from '../../store/index.ts'
import type { Stretch } from '../../store/ledger/bills.ts'
import { findLines, findReceipts, type StoredReceipt } from '../../store/proof/receipt-lines.ts'
import { currencyOf } from '../../store/proof/receipts.ts'
import {
  findSealsBetween,
  lastSealedOf,
  numberBefore,
  type SealRow,
} from '../../store/proof/seals.ts'
import { sumMoney } from '../../store/proof/totals.ts'
import { type BrokenChain, brokenSeal, checkedReceipt, signatureOf } from '../proof/receipt.ts'
import type { SigningKeys } from '../proof/signing-keys.ts'

const linesAtOnce = 1_000

/** Number of lines, and the range of their receipt numbers. */
interface LineRange {
  lines: number
  afterNumber: number
  lastNumber: number
}

/** Every entry must have its receipt, and its chain be signed. */
export async function rangeOf(db: Tx, stretch: Stretch): Promise<LineRange> {
  const { accountId, fromMs } = stretch
  // Calls go on: a receipt that came after the chain was signed is left to the next reader.
  const lastNumber = await lastSealedOf(db, accountId)
  const afterNumber = await numberBefore(db, accountId, fromMs)
  // The count tells when to stop: times are not strictly in order of the numbers.
  const [sum] = await sumMoney(db, { ...stretch, by: [] })
  return { lines: sum?.entries ?? 0, afterNumber, lastNumber }
}

export class BillTable {
  readonly #db: Tx
  readonly #keys: SigningKeys
  readonly #stretch: Stretch
  readonly #digest = newDigest()
  #currency = ''
  #lines = 0
  #first: BillLine | undefined
  /** Held back: it may be the last line, which is signed. */
  #held: BillLine | undefined
  /** The first place where the ledger differs from what was booked. */
  broken: BrokenChain | undefined

  constructor(db: Tx, keys: SigningKeys, stretch: Stretch) {
    this.#db = db
    this.#keys = keys
    this.#stretch = stretch
  }

  async *pages(): AsyncGenerator<readonly BillLine[]> {
    const { lines, lastNumber, ...range } = await rangeOf(this.#db, this.#stretch)
    this.#currency = await currencyOf(this.#db)
    let { afterNumber } = range
    while (this.#lines < lines) {
      const limit = Math.min(linesAtOnce, lines - this.#lines)
      const query = { ...this.#stretch, afterNumber, lastNumber, limit }
      const found = await findLines(this.#db, query)
      if (found.length === 0) break
      const page = await this.#page(found)
      if (page.length > 0) yield page
      afterNumber = found.at(-1)!.number
    }
    if (this.#held !== undefined) yield [await this.#signed(this.#held)]
  }

  async #page(found: readonly StoredReceipt[]): Promise<BillLine[]> {
    const { accountId } = this.#stretch
    const [first, last] = [found[0]!.number, found.at(-1)!.number]
    const seals = await findSealsBetween(this.#db, accountId, { first, last })
    const sealOf = new Map(seals.map((seal) => [seal.number, seal]))
    const hashes = await findReceipts(this.#db, accountId, this.#beforeGaps(found))
    const page: BillLine[] = []
    for (const receipt of found) {
      const above = this.#held
      const isNext = above !== undefined && above.number + 1 === receipt.number
      const previous = isNext ? '' : (hashes.get(receipt.number - 1)?.hash ?? '')
      const line = this.#line(receipt, previous, sealOf.get(receipt.number))
      this.#check(line, isNext ? above.hash : previous, sealOf.get(receipt.number))
      if (above !== undefined) page.push(above)
      this.#held = line
      this.#first ??= line
      this.#lines++
      this.#digest.add(line.hash)
    }
    return page
  }

  /** Numbers of missing receipts directly before an existing one. */
  #beforeGaps(found: readonly StoredReceipt[]): number[] {
    const numbers = [this.#held?.number ?? -1, ...found.map(({ number }) => number)]
    return numbers
      .slice(1)
      .filter((number, i) => number !== numbers[i]! + 1)
      .map((number) => number - 1)
  }

  #line(receipt: StoredReceipt, previous: string, seal: SealRow | undefined): BillLine {
    const { key = '', signature = '' } = seal ?? {}
    return { ...receipt, currency: this.#currency, previous, key, signature, billSignature: '' }
  }

  #check(line: BillLine, previous: string, seal: SealRow | undefined): void {
    if (this.broken !== undefined) return
    const { number } = line
    if (hashText(receiptText(line, this.#currency, previous)) !== line.hash) {
      this.broken = { number, problem: 'its hash is not that of its entry' }
    } else if (seal !== undefined) this.broken = brokenSeal(seal, line, this.#keys)
  }

  async #signed(line: BillLine): Promise<BillLine> {
    const { entry, number: last } = line
    this.broken ??= (await checkedReceipt(this.#db, this.#keys, entry.id))?.broken
    if (this.broken !== undefined) return line
    const { signer } = this.#keys
    const numbers = { first: this.#first!.number, last, lines: this.#lines }
    const text = tableText({ accountId: entry.accountId, ...numbers, digest: this.#digest.end() })
    return {
      ...line,
      key: signer.key,
      signature: signatureOf(this.#keys, line),
      billSignature: signer.sign(text),
    }
  }
}
