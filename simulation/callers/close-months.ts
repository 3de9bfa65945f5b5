// Finance users of a world at the end of a month: they close the past month of every account and retry until
// it is closed, at any gateway that replies.
import { type Closing, closeMonth } from '../../src/billing/bills/close-month.ts'
import { billDeps } from '../../src/engine/books/bill-deps.ts'
import { type Calling, closedMonth as month } from './calling.ts'
import { type Sent, sendCall } from './send-call.ts'

const closeTries = 12

export function planClosings(calling: Calling, overMs: number): void {
  const { context, callers, records } = calling
  const { world, random, parts } = context
  for (const { id } of records.accounts) {
    const atMs = random.work.between(0, overMs)
    world.after(atMs, callers, () => void close(calling, id))
    if (!parts.books) continue
    // A second one for the same account, and both near those of the others.
    for (const from of [atMs, overMs / 2]) {
      world.after(from + random.parts.between(0, 50), callers, () => void close(calling, id))
    }
  }
}

async function close(calling: Calling, accountId: string): Promise<void> {
  const { context, callers, records } = calling
  const { world, random } = context
  records.waiting++
  for (let tries = 0; tries < closeTries; tries++) {
    const of = { accountId, account: accountId, month, currency: 'CNY' }
    const sent = await sendCall(calling, accountId, (engine) =>
      closeMonth(billDeps(engine), of, undefined, async () => {}).catch(() => undefined),
    )
    const kind = sent === 'lost' ? sent : sent.answer?.kind
    world.note(`closing ${month} of ${accountId}: ${kind}`, callers)
    if (kind === 'closed') records.closed.add(accountId)
    if (kind === 'closed') break
    await world.pause(soonMs(calling, sent) ?? random.work.between(500, 6_000), callers)
  }
  records.waiting--
}

const maxWaitMs = 45_000

/** Some close their month as soon as that is possible: then many are closed at once. */
function soonMs({ context }: Calling, sent: Sent<Closing | undefined>): number | undefined {
  const { world, parts, random } = context
  if (!parts.books || sent === 'lost' || sent.answer?.kind !== 'too_early') return undefined
  const waitMs = sent.answer.fromMs - world.wallMs(undefined)
  if (waitMs < 0 || waitMs > maxWaitMs) return undefined
  return waitMs + random.parts.between(0, 10)
}
