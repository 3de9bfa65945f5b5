// The chain of receipts, recomputed from the entries: numbers without gaps, the balance after each
// and the hash over all of it. Reads nothing by itself.

import { receiptText, sealText } from '../../contract/bills/receipt.ts'
import { chargeTexts, type Entry, type EntryKind } from '../../contract/ledger.ts'
import { hashText, isSigned } from '../../lib/crypto/signing.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import type { Mismatch } from '../../store/proof/audit.ts'
import type { ReceiptRow, SealRow } from '../../store/proof/audit-chain.ts'
import { sealEvery } from '../../store/proof/seals.ts'

type Wrong = Mismatch & { number?: number }

/** Position of a chain. */
interface ChainEnd {
  number: number
  balanceNanos: bigint
  hash: string
}

const start: ChainEnd = { number: 0, balanceNanos: 0n, hash: '' }

/**
 * Follows the receipts of one account after the other. After a problem it continues with what is
 * stored, so that each wrong entry is reported once, and the first of them first.
 */
export class ChainWalk {
  readonly #currency: string
  readonly #report: (wrong: Wrong) => void
  #accountId: string | undefined
  #end: ChainEnd = start

  constructor(currency: string, report: (wrong: Wrong) => void) {
    this.#currency = currency
    this.#report = report
  }

  /** Continues after a receipt that was verified before. */
  resume(accountId: string, end: ChainEnd): void {
    this.#accountId = accountId
    this.#end = end
  }

  take(row: ReceiptRow): void {
    if (row.account_id !== this.#accountId) this.resume(row.account_id, start)
    const expected = this.#end.number + 1
    if (row.number !== expected) this.#reportGap(row, expected)
    const problem = this.#problemOf(row)
    if (problem !== undefined) {
      const ref = row.kind === '' ? {} : { ref: row.ref }
      const { account_id: accountId, id: entryId, number } = row
      this.#report({ accountId, entryId, number, ...ref, problem })
    }
    this.#end = { number: row.number, balanceNanos: row.balance_nanos, hash: row.hash }
  }

  #reportGap({ account_id: accountId, number }: ReceiptRow, expected: number): void {
    const gone = number === expected + 1 ? `${expected} is` : `${expected} to ${number - 1} are`
    this.#report({ accountId, number: expected, problem: `receipt ${gone} gone` })
    // Without the missing entries neither balance nor hash of the next one can be recomputed.
    this.#end = { number: number - 1, balanceNanos: unknown, hash: '' }
  }

  #problemOf(row: ReceiptRow): string | undefined {
    if (row.kind === '') return 'the entry of this receipt is gone'
    if (row.entry_account_id !== row.account_id) return 'the entry is of another account'
    if (row.kind === 'hold' || row.kind === 'release') return `a ${row.kind} has no receipt`
    const previous = this.#end
    if (previous.balanceNanos === unknown) return undefined
    const balanceNanos = previous.balanceNanos + row.amount_nanos
    if (balanceNanos !== row.balance_nanos) {
      const [sum, said] = [balanceNanos, row.balance_nanos].map(formatNanos)
      return `the balance after it is ${sum}, its receipt says ${said}`
    }
    if (balanceNanos < 0n) return `the balance after it is ${formatNanos(balanceNanos)}`
    const line = { entry: entryOf(row, row.kind), number: row.number, balanceNanos }
    const hash = hashText(receiptText(line, this.#currency, previous.hash))
    if (hash !== row.hash) return 'what it says is not what its receipt was made of'
    return row.estimated > 1 ? 'estimated is neither yes nor no' : undefined
  }
}

/** Out of range for a balance: represents an unknown one. */
const unknown = 2n ** 63n

/** Receipts do not distinguish empty from absent. */
function entryOf(row: ReceiptRow, kind: EntryKind): Entry & { id: number } {
  const { quantity } = row
  const entry: Entry & { id: number } = {
    id: row.id,
    atMs: row.at_ms,
    accountId: row.account_id,
    kind,
    amountNanos: row.amount_nanos,
    ref: row.ref,
    model: row.model,
    unit: row.unit,
    tier: row.tier,
    priceId: row.price_id,
    tokenId: row.token_id,
    tags: row.tags,
    estimated: row.estimated === 1,
    note: row.note,
  }
  if (quantity !== undefined) entry.quantity = quantity
  for (const { column, field } of chargeTexts) entry[field] = row[column]
  return entry
}

/** Whether a signature matches this text and one of this gateway's keys. */
export type Knows = (text: string, signed: { key: string; signature: string }) => boolean

/** Where our own keys are unknown: checks the signature against the key it names. */
export const knowsAny: Knows = (text, { key, signature }) => isSigned(text, key, signature)

/** Follows the seals of one account after the other, from the first of each. */
export class SealWalk {
  readonly #knows: Knows
  readonly #report: (wrong: Wrong) => void
  #last: Pick<SealRow, 'account_id' | 'number' | 'at_ms'> = nowhere

  constructor(knows: Knows, report: (wrong: Wrong) => void) {
    this.#knows = knows
    this.#report = report
  }

  take(seal: SealRow): void {
    const { account_id: accountId, number } = seal
    const last = this.#last.account_id === accountId ? this.#last : nowhere
    const due = (Math.floor(last.number / sealEvery) + 1) * sealEvery
    if (number > due) this.#report({ accountId, number: due, problem: `seal ${due} is gone` })
    const problem = problemOfSeal(seal, this.#knows) ?? problemOfTime(seal, last)
    if (problem !== undefined) this.#report({ accountId, number, problem })
    this.#last = seal
  }
}

const nowhere = { account_id: '', number: 0, at_ms: 0 }

/** A seal carries the latest time of all entries up to it. */
function problemOfTime(seal: SealRow, last: { at_ms: number }): string | undefined {
  const atMs = Math.max(last.at_ms, seal.newest_ms ?? 0)
  return seal.at_ms === atMs ? undefined : `the time of seal ${seal.number} is not its last entry's`
}

export function problemOfSeal(seal: SealRow, knows: Knows): string | undefined {
  const { account_id, number, hash, receipt_hash } = seal
  if (!knows(sealText(account_id, number, hash), seal)) {
    return `the signature of seal ${number} is not of this text and this gateway`
  }
  if (receipt_hash === null) return `seal ${number} vouches for a receipt that is gone`
  if (receipt_hash !== hash) return `seal ${number} vouches for another chain than there is`
  return undefined
}
