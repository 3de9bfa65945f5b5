// Finance users who give back charges, or parts of them: several at once for the same charge, at several gateways,
// and again under the same name until a gateway replies.
import type { Calling } from './calling.ts'
import type { RefundInput } from './records.ts'
import { sendCall } from './send-call.ts'

const maxOrders = 8
const refundTries = 5
/** Charges that are more likely to be refunded: what becomes of them may not be settled yet. */
const recent = 4

export function planRefunds(calling: Calling, overMs: number): void {
  const { context, callers } = calling
  const { world, random } = context
  const times = random.parts.whole(3, maxOrders)
  for (let count = 0; count < times; count++) {
    // Some after the last call.
    const atMs = random.parts.between(0, overMs + 8_000)
    world.after(atMs, callers, () => orderSome(calling))
  }
}

interface ChargeRow {
  ref: string
  account_id: string
  charge_nanos: bigint
}

function orderSome(calling: Calling): void {
  const { context, records } = calling
  const { db, random } = context
  const { rows } = db.query<ChargeRow>(
    `SELECT ref, account_id, -amount_nanos AS charge_nanos FROM ledger
     WHERE kind = 'charge' AND amount_nanos < 0 ORDER BY id`,
  )
  if (rows.length === 0) return
  const lost = rows.filter(({ ref }) => isRefused(calling, ref))
  const some = lost.length > 0 ? lost : random.parts.chance(0.7) ? rows.slice(-recent) : rows
  const { ref: of, account_id: accountId, charge_nanos: chargeNanos } = random.parts.pick(some)
  const times = random.parts.pick([1, 2, 3])
  for (let count = 0; count < times; count++) {
    const refund: RefundInput = {
      ref: `refund_${records.refunds.length + 1}`,
      ...{ of, accountId },
      // More than a half: two of them are more than the charge.
      amountNanos: random.parts.chance(0.4) ? undefined : (chargeNanos * 2n) / 3n + 1n,
      answer: undefined,
    }
    records.refunds.push(refund)
    void order(calling, refund)
  }
}

/** Its charge may still be given back without a refund. */
const isRefused = ({ records }: Calling, requestId: string): boolean =>
  records.inputs.some(({ answers }) =>
    answers.some((answer) => answer.kind === 'refused' && answer.requestId === requestId),
  )

async function order(calling: Calling, refund: RefundInput): Promise<void> {
  const { context, records, callers } = calling
  const { world, random } = context
  const { ref, of: refundOf, accountId, amountNanos } = refund
  records.waiting++
  for (let tries = 0; tries < refundTries && refund.answer === undefined; tries++) {
    const sent = await sendCall(calling, accountId, (engine) => {
      const atMs = engine.clock.nowMs()
      const asked = { ref, refundOf, accountId, amountNanos, reason: 'it was wrong', atMs }
      return engine.ledger.refund(asked).commit()
    })
    if (sent !== 'lost') refund.answer = sent.answer
    else await world.pause(random.parts.between(100, 2_000), callers)
  }
  const { answer } = refund
  const outcome = typeof answer === 'object' ? answer.amountNanos : answer
  world.note(`${ref} of ${refundOf}: ${outcome}`, callers)
  records.waiting--
}
