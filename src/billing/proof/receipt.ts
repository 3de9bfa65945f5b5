// Issues receipts: before one is signed, the chain from it to the next seal is recomputed from the
// entries, so that the gateway never signs tampered data.
import type { BillLine } from '../../contract/bills/bill-line.ts'
import { receiptText, sealText } from '../../contract/bills/receipt.ts'
import { hashText, isSigned } from '../../lib/crypto/signing.ts'
import type { Tx } from '../../store/index.ts'
import {
  findLinks,
  findReceipt,
  findReceipts,
  type StoredReceipt,
} from '../../store/proof/receipt-lines.ts'
import { currencyOf } from '../../store/proof/receipts.ts'
import { findSealOf } from '../../store/proof/seals.ts'
import type { SigningKeys } from './signing-keys.ts'

/** A place in a chain where the stored data differs from what was booked. */
export interface BrokenChain {
  number: number
  problem: string
}

interface CheckedReceipt {
  line: BillLine
  /** Number of the seal that covers it. */
  sealedBy?: number
  broken?: BrokenChain
}

/** The receipt of an entry, signed if it is valid. Undefined: it has none yet. */
export async function checkedReceipt(
  db: Tx,
  keys: SigningKeys,
  entryId: number,
): Promise<CheckedReceipt | undefined> {
  const found = await findReceipt(db, entryId)
  if (found === undefined) return undefined
  const { accountId, number } = found
  const seal = await findSealOf(db, accountId, number)
  const last = seal?.number ?? number
  const links = await findLinks(db, accountId, { first: number, last })
  const own = links[0]
  if (own?.number !== number) return undefined
  const previous = await previousHash(db, accountId, number)
  const currency = await currencyOf(db)
  const broken =
    seal === undefined
      ? { number, problem: 'no seal vouches for it' }
      : (brokenLink(links, { first: number, last, previous, currency }) ??
        brokenSeal(seal, links.at(-1)!, keys))
  const line: BillLine = {
    ...own,
    currency,
    previous,
    key: broken === undefined ? keys.signer.key : '',
    signature: broken === undefined ? signatureOf(keys, own) : '',
    billSignature: '',
  }
  if (seal === undefined || broken !== undefined) return { line, ...(broken && { broken }) }
  return { line, sealedBy: seal.number }
}

/** The same text that a seal on this receipt would sign. */
export const signatureOf = ({ signer }: SigningKeys, { entry, number, hash }: StoredReceipt) =>
  signer.sign(sealText(entry.accountId, number, hash))

/** Empty before the first. */
async function previousHash(db: Tx, accountId: string, number: number): Promise<string> {
  if (number === 1) return ''
  return (await findReceipts(db, accountId, [number - 1])).get(number - 1)?.hash ?? ''
}

function brokenLink(
  links: readonly StoredReceipt[],
  {
    first,
    last,
    previous,
    currency,
  }: Record<'first' | 'last', number> & Record<'previous' | 'currency', string>,
): BrokenChain | undefined {
  let above = previous
  for (let number = first; number <= last; number++) {
    const link = links[number - first]
    if (link?.number !== number) return { number, problem: 'its entry is missing' }
    if (hashText(receiptText(link, currency, above)) !== link.hash) {
      return { number, problem: 'its hash is not that of its entry' }
    }
    above = link.hash
  }
  return undefined
}

export function brokenSeal(
  seal: { account_id: string; number: number; hash: string; key: string; signature: string },
  { hash }: StoredReceipt,
  { published }: SigningKeys,
): BrokenChain | undefined {
  const { account_id, number, key, signature } = seal
  const isOurs = published.includes(key)
  return isOurs &&
    seal.hash === hash &&
    isSigned(sealText(account_id, number, hash), key, signature)
    ? undefined
    : { number, problem: 'the seal on it does not belong to it' }
}
