// Bills: a month of an account, the months there are, closing one, and a page to print. The lines
// behind a bill are in bill-lines.ts, the figures in billing/.
import { z } from 'zod'
import type { BillOf } from '../../billing/bills/bill.ts'
import { type Closing, closeMonth } from '../../billing/bills/close-month.ts'
import { listAccountsOf, listMonths, type MonthRow } from '../../billing/bills/months.ts'
import { billPage, billPagePolicy } from '../../billing/bills/page/page.ts'
import { isPageLanguage, pageLanguages } from '../../billing/bills/page/words.ts'
import { readBill } from '../../billing/bills/read-bill.ts'
import { sumUsage, type UsageKey } from '../../billing/prices/usage-rows.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { billDeps } from '../../engine/books/bill-deps.ts'
import type { Engine } from '../../engine/engine.ts'
import { answerHeaders, type Exchange } from '../../http/exchange.ts'
import { monthAt, monthBounds } from '../../lib/text/month.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import type { Stretch } from '../../store/ledger/bills.ts'
import {
  listOf,
  notFound,
  pageQuery,
  type Resource,
  readBody,
  recordChange,
  route,
  time,
} from '../legacy-route.ts'
import { linesAsTable, linesOf } from './bill-lines.ts'

export const closeRequest = z.strictObject({
  account: z.string(),
  month: z.string(),
  note: z.string().max(500).optional(),
})

export const bills: Resource = (app, deps) => {
  const { engine } = deps
  const { read } = engine.store

  app.get(
    '/bills',
    route(async ({ query }, x) => {
      const asked = await askedFor(engine, query)
      if (asked instanceof Refusal) return asked
      const stretch = stretchOf(asked)
      const format = query('format') ?? 'json'
      if (format === 'csv') {
        return linesAsTable(engine, x, stretch, `${asked.account}-${asked.month}.csv`)
      }
      if (format !== 'json') return wrong('format', 'must be json or csv')
      const by = breakdownOf(query('by'))
      if (by instanceof Refusal) return by
      const lines = await linesOf(deps, stretch, query)
      if (lines instanceof Refusal) return lines
      const bill = await readBill(billDeps(engine), asked)
      if (by.length === 0) return { ...bill, ...lines }
      const { rows } = await sumUsage(read, { ...stretch, by })
      return { ...bill, breakdown: rows, ...lines }
    }),
  )

  app.get(
    '/bills/months',
    route(async ({ query }) => {
      const account = await accountIn(engine, query('account'))
      if (account instanceof Refusal) return account
      const page = pageQuery((name) => query(name) ?? defaults[name], deps)
      if (page instanceof Refusal) return page
      const nowMs = engine.clock.nowMs()
      return listOf(await listMonths(read, account, { ...page, nowMs }), inCurrency(engine))
    }),
  )

  app.get(
    '/bills/accounts',
    route(async ({ query }) => {
      const month = monthIn(engine, query('month'))
      if (month instanceof Refusal) return month
      const page = pageQuery(query, deps)
      if (page instanceof Refusal) return page
      return listOf(await listAccountsOf(read, month, page), inCurrency(engine))
    }),
  )

  app.get(
    '/bills/statement',
    route(async ({ query }, x) => {
      const asked = await askedFor(engine, query)
      if (asked instanceof Refusal) return asked
      const language = query('lang') ?? 'en'
      if (!isPageLanguage(language)) {
        return wrong('lang', `must be ${Object.keys(pageLanguages).join(' or ')}`)
      }
      const bill = await readBill(billDeps(engine), asked)
      return answerPage(x, billPage(bill, { language, nowMs: engine.clock.nowMs() }))
    }),
  )

  app.post(
    '/bills/close',
    route(async (_, x) => {
      const body = await readBody(x, deps, closeRequest)
      if (body instanceof Refusal) return body
      const asked = await askedFor(engine, (name) =>
        name === 'account' ? body.account : name === 'month' ? body.month : undefined,
      )
      if (asked instanceof Refusal) return asked
      const desk = billDeps(engine)
      const done = await closeMonth(desk, asked, body.note, (tx, bill) =>
        recordChange(tx, x, {
          action: 'bill.close',
          subject: asked.accountId,
          after: {
            month: bill.month,
            charges: bill.charges,
            closing_balance: bill.closing_balance,
            last_number: bill.last_number,
            note: bill.note,
          },
        }),
      )
      return done.kind === 'closed' ? readBill(desk, asked) : refusalOf(asked, done)
    }),
  )
}

/** Months are few: a page of them is a year unless more are asked for. */
const defaults: Readonly<Record<string, string | undefined>> = { limit: '12' }

const inCurrency = (engine: Engine) => (row: MonthRow) => ({
  ...row,
  currency: engine.declared.file.currency,
})

const wrong = (param: string, message: string): Refusal =>
  refuse('invalid_request', `'${param}' ${message}`, { param })

type Read = (name: string) => string | undefined

async function askedFor(engine: Engine, query: Read): Promise<BillOf | Refusal> {
  const account = await accountIn(engine, query('account'))
  if (account instanceof Refusal) return account
  const month = monthIn(engine, query('month'))
  if (month instanceof Refusal) return month
  const { currency } = engine.declared.file
  return { accountId: account.id, account: account.name, month, currency }
}

async function accountIn(engine: Engine, name: string | undefined) {
  if (name === undefined || name === '') return wrong('account', 'is missing')
  return (await findAccount(engine.store.read, name)) ?? notFound('account', name)
}

/** This one unless it is named; not one that has not begun. */
function monthIn(engine: Engine, named: string | undefined): string | Refusal {
  const running = monthAt(engine.clock.nowMs())
  const month = named ?? running
  if (monthBounds(month) === undefined) return wrong('month', 'must be of the form 2026-11')
  return month > running ? wrong('month', `is ${month}, which has not begun`) : month
}

const stretchOf = ({ accountId, month }: BillOf): Stretch => ({
  accountId,
  ...monthBounds(month)!,
})

const finer = ['token', 'tier', 'price', 'day'] as const satisfies readonly UsageKey[]

/** Model and unit, and what finer keys were asked for. */
function breakdownOf(text: string | undefined): readonly UsageKey[] | Refusal {
  if (text === undefined) return []
  const keys = text.split(',').map((key) => finer.find((known) => known === key))
  const known = keys.filter((key) => key !== undefined)
  if (known.length < keys.length) {
    return wrong('by', `must be of ${finer.join(', ')}, with commas between them`)
  }
  return ['model', 'unit', ...new Set(known)]
}

function answerPage(x: Exchange, page: string): Response {
  const headers = answerHeaders(x, 'text/html; charset=utf-8')
  headers['content-security-policy'] = billPagePolicy
  headers['x-content-type-options'] = 'nosniff'
  headers['referrer-policy'] = 'no-referrer'
  headers['cache-control'] = 'private, no-store'
  return new Response(page, { headers })
}

function refusalOf({ month, account }: BillOf, done: Exclude<Closing, { kind: 'closed' }>) {
  switch (done.kind) {
    case 'too_early':
      return wrong('month', `is ${month}, which can be closed from ${time(done.fromMs)} on`)
    case 'earlier_open':
      return refuse(
        'conflict',
        `${done.month} of ${account} has charges or credits and is open: close it first`,
        { param: 'month' },
      )
    case 'behind':
      return refuse(
        'overloaded',
        `${done.entries} entries have no receipt yet; try again in a moment`,
      )
    case 'differs':
      return refuse(
        'conflict',
        `the bill of ${month} ends with ${done.bill}, the ledger with ${done.ledger}: ` +
          'an earlier month that was closed is not what the ledger says; see its bill',
        { param: 'month' },
      )
  }
}
