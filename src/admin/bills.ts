// Bills: a month of an account by model and unit, and the lines behind it as a table for spreadsheets.
import { makeBill, monthOf } from '../billing/bill.ts'
import { Refusal, refuse } from '../contract/errors.ts'
import type { Engine } from '../engine/engine.ts'
import { answerHeaders, type Exchange } from '../http/exchange.ts'
import { csvRow } from '../lib/csv.ts'
import { findAccount } from '../store/accounts.ts'
import { entriesOf, type Stretch } from '../store/bills.ts'
import { findEntriesBetween, type StoredEntry } from '../store/entries.ts'
import { entryView } from './accounts.ts'
import { type AdminDeps, notFound, pageQuery, type Resource, route } from './route.ts'

export const bills: Resource = (app, deps) => {
  const { engine } = deps
  app.get(
    '/bills',
    route(async ({ query }, x) => {
      const asked = await askedFor(engine, query)
      if (asked instanceof Refusal) return asked
      const { stretch, account, month } = asked
      const format = query('format') ?? 'json'
      if (format === 'csv') return asTable(engine, x, stretch, `${account}-${month}.csv`)
      if (format !== 'json') {
        return refuse('invalid_request', "'format' must be json or csv", { param: 'format' })
      }
      const bill = await makeBill(engine.store, stretch)
      const { currency } = engine.declared.file
      const lines = await linesOf(deps, stretch, query)
      return lines instanceof Refusal ? lines : { account, month, currency, ...bill, ...lines }
    }),
  )
}

type Read = (name: string) => string | undefined

async function askedFor(
  engine: Engine,
  read: Read,
): Promise<{ stretch: Stretch; account: string; month: string } | Refusal> {
  const name = read('account')
  if (name === undefined)
    return refuse('invalid_request', "'account' is missing", { param: 'account' })
  const account = await findAccount(engine.store.read, name)
  if (account === undefined) return notFound('account', name)
  const month = read('month') ?? new Date(engine.clock.nowMs()).toISOString().slice(0, 7)
  const bounds = monthOf(month)
  if (bounds === undefined) {
    return refuse('invalid_request', "'month' must be of the form 2026-11", { param: 'month' })
  }
  return { stretch: { accountId: account.id, ...bounds }, account: account.name, month }
}

/** A page of them, for who wants them: `lines=true`, then by cursor. */
async function linesOf(deps: AdminDeps, stretch: Stretch, read: Read): Promise<object | Refusal> {
  if (read('lines') !== 'true') return {}
  const page = pageQuery(read, deps)
  if (page instanceof Refusal) return page
  const { limit, cursor = '0' } = page
  if (!/^\d{1,15}$/.test(cursor)) {
    return refuse('invalid_request', "'cursor' is not one of ours", { param: 'cursor' })
  }
  const { read: db } = deps.engine.store
  const rows = await findEntriesBetween(db, stretch, { afterId: Number(cursor), limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const next = rows.length > limit ? String(shown.at(-1)!.id) : null
  return { lines: shown.map(entryView), next_cursor: next }
}

const columns = [
  'id',
  'at',
  'kind',
  'model',
  'unit',
  'quantity',
  'amount',
  'currency',
  'request_id',
  'task_id',
  'price_id',
  'estimated',
  'note',
] as const

/** As spreadsheets read it: with a mark for UTF-8, and no cell that would be a formula. */
function asTable(engine: Engine, x: Exchange, stretch: Stretch, fileName: string): Response {
  const { currency } = engine.declared.file
  const encoder = new TextEncoder()
  const pages = entriesOf(engine.store.read, stretch)
  let isFirst = true
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const page = await pages.next()
      const entries: readonly StoredEntry[] = page.done ? [] : page.value
      const head = isFirst ? `\uFEFF${csvRow(columns)}` : ''
      isFirst = false
      const rows = entries.map((entry) => {
        const row: Record<string, unknown> = { ...entryView(entry), currency }
        return csvRow(columns.map((column) => row[column]))
      })
      if (head !== '' || rows.length > 0) controller.enqueue(encoder.encode(head + rows.join('')))
      if (page.done) controller.close()
    },
  })
  const headers = answerHeaders(x, 'text/csv; charset=utf-8')
  const name = fileName.replace(/[^\w.-]/g, '_')
  headers['content-disposition'] = `attachment; filename="${name}"`
  return new Response(body, { headers })
}
