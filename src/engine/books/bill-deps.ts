// What bills are read and closed with, taken from the engine.
import type { ClosingDesk } from '../../billing/bills/close-month.ts'
import { isSigned } from '../../lib/crypto/signing.ts'
import type { Engine } from '../engine.ts'

export const billDesk = ({ store, clock, log, bookkeeper }: Engine): ClosingDesk => ({
  store,
  clock,
  log,
  bookkeeper,
  notary: {
    sign: (text) => ({ key: bookkeeper.signer.key, signature: bookkeeper.signer.sign(text) }),
    // A key of somebody else signs whatever somebody else likes.
    knows: (text, { key, signature }) =>
      bookkeeper.keys.published.includes(key) && isSigned(text, key, signature),
  },
})
