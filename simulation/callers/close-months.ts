// Finance people of a world at the border of a month: they close the month that has ended for every
// account, again and again until it is closed, at whatever gateway answers.
import { closeMonth } from '../../src/billing/bills/close-month.ts'
import { billDeps } from '../../src/engine/books/bill-deps.ts'
import type { Calling } from './callers.ts'
import { ask } from './send-call.ts'

const month = '2027-01'
const closeTries = 12

export function planClosings(calling: Calling, overMs: number): void {
  const { stage, callers, books } = calling
  for (const { id } of books.accounts) {
    stage.world.after(stage.random.work.between(0, overMs), callers, () => void close(calling, id))
  }
}

async function close(calling: Calling, accountId: string): Promise<void> {
  const { stage, callers, books } = calling
  const { world, random } = stage
  books.waiting++
  for (let tries = 0; tries < closeTries; tries++) {
    const of = { accountId, account: accountId, month, currency: 'CNY' }
    const asked = await ask(calling, accountId, (engine) =>
      closeMonth(billDeps(engine), of, undefined, async () => {}).catch(() => undefined),
    )
    const kind = asked === 'lost' ? asked : asked.answer?.kind
    world.note(`closing ${month} of ${accountId}: ${kind}`, callers)
    if (kind === 'closed') break
    await world.pause(random.work.between(500, 6_000), callers)
  }
  books.waiting--
}
