// All bills of a month as one file.
import { Refusal } from '../../contract/errors.ts'
import { openMonthFile } from '../../engine/books/month-file.ts'
import { answerTable } from '../../http/answer-file.ts'
import { bytes } from '../../http/schema.ts'
import { unreadSeconds } from '../download.ts'
import { monthIn } from '../money/bills.ts'
import { forFinance } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import { archiveQuery } from './closing-schema.ts'

async function download({ engine, query, x }: Ask<{ query: typeof archiveQuery }>) {
  const month = monthIn(engine, query.month)
  if (month instanceof Refusal) return month
  x.connection.keepOpen(unreadSeconds)
  const file = openMonthFile(engine, { month, language: query.lang ?? 'en' })
  return answerTable(x, file, `bills-${month}.zip`, 'application/octet-stream')
}

const route = routesOf({ tag: 'Bills', thing: 'month', permission: forFinance })

export const monthFileRoutes = [
  route('GET /bills/archive', {
    id: 'downloadMonth',
    summary: 'All bills of a month as one ZIP',
    query: archiveQuery,
    files: { 'application/octet-stream': bytes() },
    headers: ['content-disposition'],
    returns: 'A page to print for each account, and a table with a row for each.',
    handle: download,
  }),
]
