// What subscribers are told when a version of a price is made or withdrawn, in the transaction of the change.
import { declaredTerms } from '../../contract/config-schema/index.ts'
import type { Price } from '../../contract/price.ts'
import type { Offers } from '../../engine/base-deps.ts'
import { notify } from '../../store/deliveries/notices.ts'
import type { Tx } from '../../store/index.ts'
import { time } from '../answers.ts'

/** Of a version that is withdrawn, `after` is what stays in force. */
export async function notifyPrice(
  { prices }: Offers,
  tx: Tx,
  price: Price,
  atMs: number,
  withdrawn = false,
): Promise<void> {
  const { model, account, terms, effectiveFromMs } = price
  const listed = prices.listed(model, account?.id)
  const now = listed === undefined ? null : declaredTerms(listed.terms)
  const its = declaredTerms(terms)
  await notify(tx, {
    type: 'price.changed',
    atMs,
    data: {
      model,
      account: account?.name ?? null,
      effective_from: time(effectiveFromMs),
      before: withdrawn ? its : now,
      after: withdrawn ? now : its,
      withdrawn,
    },
  })
}
