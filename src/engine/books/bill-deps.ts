// What reading and closing bills needs from the engine.
import type { ClosingDeps } from '../../billing/bills/close-month.ts'
import type { ReceiptWriter } from '../../billing/proof/receipt-writer.ts'
import { isSigned } from '../../lib/crypto/signing.ts'
import type { BaseDeps, Declares } from '../base-deps.ts'

export interface BooksDeps extends BaseDeps, Declares {
  readonly receiptWriter: ReceiptWriter
}

export const billDeps = ({
  store,
  clock,
  log,
  receiptWriter,
  declared,
}: BooksDeps): ClosingDeps => ({
  issuer: declared.file.issuer,
  store,
  clock,
  log,
  receiptWriter,
  signer: {
    sign: (text) => ({ key: receiptWriter.signer.key, signature: receiptWriter.signer.sign(text) }),
    // A signature counts only with a published key: any other key could sign anything.
    knows: (text, { key, signature }) =>
      receiptWriter.keys.published.includes(key) && isSigned(text, key, signature),
  },
})
