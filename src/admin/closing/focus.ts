// What was billed over some days, as a table of FOCUS 1.2 for cost tools.
import { openFocusFile } from '../../engine/books/focus-file.ts'
import { answerTable } from '../../http/answer-file.ts'
import { text } from '../../http/schema.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { notFound, wrong } from '../answers.ts'
import { unreadSeconds } from '../download.ts'
import { forFinance } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import { focusQuery } from './closing-schema.ts'

const dayMs = 86_400_000
const maxDays = 366

async function exportFocus({ engine, query, x }: Ask<{ query: typeof focusQuery }>) {
  const [fromMs, untilMs] = [Date.parse(query.from), Date.parse(query.to) + dayMs]
  if (untilMs <= fromMs) return wrong('to', 'must not be before from')
  if (untilMs - fromMs > maxDays * dayMs)
    return wrong('to', `must be at most ${maxDays} days later`)
  const { account: named } = query
  const account = named === undefined ? undefined : await findAccount(engine.store.read, named)
  if (named !== undefined && account === undefined) return notFound('account', named)
  x.connection.keepOpen(unreadSeconds)
  const name = `focus-${query.from}-${query.to}.csv`
  return answerTable(x, openFocusFile(engine, { account, fromMs, untilMs }), name)
}

const route = routesOf({ tag: 'Bills', thing: 'account', permission: forFinance })

export const focusRoutes = [
  route('GET /exports/focus', {
    id: 'exportFocus',
    summary: 'Charges and refunds of some days, as a table of FOCUS 1.2',
    query: focusQuery,
    files: { 'text/csv': text() },
    headers: ['content-disposition'],
    returns: 'A row for each day, account, model, rate and version of a price, split by tags.',
    refusals: ['not_found'],
    handle: exportFocus,
  }),
]
