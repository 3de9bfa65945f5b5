// A caller's own account: what it has used, and its bills. Counts against no rate limit and is not in
// the request log.

import type { CallerApi } from '../../contract/caller-api.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import { answerTable } from '../../http/answer-file.ts'
import { answer } from '../../http/render-error.ts'
import { answerJson, type RequestContext } from '../../http/request-context.ts'
import { callerOf, type Surface } from '../common/surface.ts'
import { pageIn, type Query, usageAsk, wrong } from './ask.ts'

/** By default a page of months is a year. */
const usualMonths = 12

export const usage: Surface = {
  name: 'usage',
  prefixes: ['/gateway'],
  browsers: true,
  operations: async () => (await import('./operations.ts')).usageOperations,
  mount(app, { api }) {
    app.get('/gateway/v1/usage', ({ env: { context: x }, req }) =>
      asCaller(api, x, async (token) => {
        const ask = usageAsk((name) => req.query(name), api.nowMs())
        return ask instanceof Refusal ? ask : api.reportUsage(token, ask)
      }),
    )
    app.get('/gateway/v1/bills', ({ env: { context: x }, req }) =>
      asCaller(api, x, (token) => bills(api, x, token, (name) => req.query(name))),
    )
  },
}

/** All months, or the bill of one. */
async function bills(
  api: CallerApi,
  x: RequestContext,
  token: Token,
  query: Query,
): Promise<object | Refusal> {
  const named = query('month')
  if (named === undefined) {
    const page = pageIn(query, usualMonths)
    return page instanceof Refusal ? page : api.listMonths(token, page)
  }
  const month = api.begunMonth(named)
  if (month instanceof Refusal) return month
  const format = query('format') ?? 'json'
  if (format === 'json') return api.showBill(token, month, query('group_by'))
  if (format !== 'csv') return wrong('format', 'must be json or csv')
  const file = await api.openBillFile(token, month)
  return file instanceof Refusal ? file : answerTable(x, file, `${token.accountName}-${month}.csv`)
}

async function asCaller(
  api: CallerApi,
  x: RequestContext,
  work: (token: Token) => Promise<object | Refusal>,
): Promise<Response> {
  const token = callerOf(api, x)
  const result = token instanceof Refusal ? token : await work(token)
  if (result instanceof Refusal || result instanceof Response) return answer(x, result)
  return answerJson(x, JSON.stringify(result), 200, { 'cache-control': 'private, no-store' })
}
