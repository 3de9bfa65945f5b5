// Closes a month for all accounts, a page of them per call. Each account has a transaction of its own: when
// the gateway stops in between, whole months are closed and the others are open, and asking again goes on.
import { listAccountsOf } from '../../billing/bills/months.ts'
import { Refusal } from '../../contract/errors.ts'
import { billOf, closeBill, refusalOf } from '../money/bills.ts'
import { forFinance } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import { closeAllRequest, closedMonths } from './closing-schema.ts'

/** One call answers within seconds, whatever their number. */
const accountsPerCall = 50

async function closeAll({ engine, body, x }: Ask<{ body: typeof closeAllRequest }>) {
  const { note, cursor } = body
  const named = billOf(engine, { id: '', name: '' }, body.month)
  if (named instanceof Refusal) return named
  const { month } = named
  const page = await listAccountsOf(engine.store.read, month, {
    limit: accountsPerCall,
    ...(cursor !== undefined && { cursor }),
  })
  const refused: { account: string; code: string; reason: string }[] = []
  let [closed, alreadyClosed] = [0, 0]
  for (const { account, account_id, state } of page.items) {
    if (state === 'closed') {
      alreadyClosed++
      continue
    }
    const asked = { ...named, account, accountId: account_id }
    const done = await closeBill(engine, x, asked, note)
    if (done.kind === 'closed') {
      if (done.again) alreadyClosed++
      else closed++
      continue
    }
    const refusal = refusalOf(asked, done)
    // It is too early for every account.
    if (done.kind === 'too_early') return refusal
    refused.push({ account, code: refusal.code, reason: refusal.message })
  }
  if (closed > 0) engine.jobs.notices.wake()
  const next_cursor = page.nextCursor ?? null
  return { month, closed, already_closed: alreadyClosed, refused, next_cursor }
}

const route = routesOf({ tag: 'Bills', thing: 'month', permission: forFinance })

export const closeAllRoutes = [
  route('POST /bills/close-all', {
    id: 'closeMonthOfAll',
    summary: 'Close a month for all accounts',
    description:
      'Closes up to 50 accounts per call, each in a transaction of its own. Ask again with `next_cursor` until it is null. ' +
      'Accounts that cannot be closed are named with the reason; the others are closed all the same.',
    body: closeAllRequest,
    examples: { month: { month: '2026-10' } },
    answer: closedMonths,
    returns: 'How many were closed, and which were not.',
    handle: closeAll,
  }),
]
