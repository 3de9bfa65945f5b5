// The steps that close a month, and how far each is: statements, differences, and bills closed, numbered and sent.
import { listAccountsOf } from '../../billing/bills/months.ts'
import type { Engine } from '../../engine/engine.ts'
import { monthBounds } from '../../lib/text/month.ts'
import { countSentBills } from '../../store/ledger/bill-mails.ts'
import { countNumberedMonths } from '../../store/ledger/closed-months.ts'
import type { View } from '../route.ts'
import type { monthChecklist } from './month-schema.ts'
import { channelsOf, viewChannelMonth } from './month-view.ts'

const accountsPerPage = 500

async function countBills({ store }: Engine, month: string) {
  const counts = { open: 0, closed: 0 }
  let cursor: string | undefined
  do {
    const query = { limit: accountsPerPage, ...(cursor !== undefined && { cursor }) }
    const page = await listAccountsOf(store.read, month, query)
    for (const { state } of page.items) counts[state]++
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return { all: counts.open + counts.closed, closed: counts.closed }
}

export async function checklistOf(
  engine: Engine,
  month: string,
): Promise<View<typeof monthChecklist>> {
  const channels = { all: 0, covered: 0, explained: 0 }
  for (const name of await channelsOf(engine, month)) {
    const { state, statements, missing_days, unexplained_lines } = await viewChannelMonth(
      engine,
      name,
      month,
    )
    const isClosed = state === 'closed'
    channels.all++
    if (isClosed || (statements.length > 0 && missing_days.length === 0)) channels.covered++
    if (isClosed || (statements.length > 0 && unexplained_lines === 0)) channels.explained++
  }
  const bills = await countBills(engine, month)
  const sent = await countSentBills(engine.store.read, month)
  const numbered = await countNumberedMonths(engine.store.read, month)
  const isOver = engine.clock.nowMs() >= monthBounds(month)!.untilMs
  const stepOf = <const T extends string>(step: T, done: number, total: number) => ({
    step,
    state: isOver && done >= total ? ('done' as const) : ('open' as const),
    done,
    total,
  })
  return {
    month,
    is_over: isOver,
    steps: [
      stepOf('statements', channels.covered, channels.all),
      stepOf('differences', channels.explained, channels.all),
      stepOf('bills_closed', bills.closed, bills.all),
      stepOf('bills_numbered', numbered, bills.all),
      // Accounts without an address get theirs in another way.
      stepOf('bills_sent', sent.sent, bills.all - sent.withoutAddress),
    ],
  }
}
