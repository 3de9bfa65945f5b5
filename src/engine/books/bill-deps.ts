// The dependencies for reading and closing bills, taken from the engine.
import type { ClosingDeps } from '../../billing/bills/close-month.ts'
import { isSigned } from '../../lib/crypto/signing.ts'
import type { Engine } from '../engine.ts'

export const billDeps = ({ store, clock, log, receiptWriter }: Engine): ClosingDeps => ({
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
