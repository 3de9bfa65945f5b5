// Bills: a month of an account, the months there are, closing one, and a page to print. The lines
// behind a bill are in bill-lines.ts, the figures in billing/.
import type { BillOf } from '../../billing/bills/bill.ts'
import { type Closing, closeMonth } from '../../billing/bills/close-month.ts'
import { listAccountsOf, listMonths, type MonthRow } from '../../billing/bills/months.ts'
import { billPage, billPagePolicy } from '../../billing/bills/page/page.ts'
import { readBill } from '../../billing/bills/read-bill.ts'
import { sumUsage, type UsageKey } from '../../billing/prices/usage-rows.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { BaseDeps, Declares } from '../../engine/base-deps.ts'
import { readTaggedBill, tagKeyIn } from '../../engine/books/bill-by-tag.ts'
import { billDeps } from '../../engine/books/bill-deps.ts'
import type { Engine } from '../../engine/engine.ts'
import { answerHeaders, type RequestContext } from '../../http/request-context.ts'
import { text } from '../../http/schema.ts'
import { monthAt, monthBounds } from '../../lib/text/month.ts'
import { type Account, findAccount } from '../../store/catalog/accounts.ts'
import { notify } from '../../store/deliveries/notices.ts'
import type { Stretch } from '../../store/ledger/bills.ts'
import { sumDays } from '../../store/proof/totals.ts'
import { auditChange, listOf, notFound, time, wrong } from '../answers.ts'
import { forFinance, forFinanceAndMembers } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import { linesAsTable, linesOf } from './bill-lines.ts'
import {
  accountsQuery,
  bill,
  billQuery,
  closeRequest,
  monthList,
  monthsQuery,
  shownBill,
  statementQuery,
} from './bill-schema.ts'

const stretchOf = ({ accountId, month }: BillOf): Stretch => ({
  accountId,
  ...monthBounds(month)!,
})

async function showBill(ask: Ask<{ query: typeof billQuery }>) {
  const { engine, query, account, page, x, viewer } = ask
  const asked = billOf(engine, account!, query.month)
  if (asked instanceof Refusal) return asked
  const stretch = stretchOf(asked)
  if (query.format === 'csv') {
    return linesAsTable(engine, x, stretch, `${asked.account}-${asked.month}.csv`)
  }
  const by = breakdownOf(query.by)
  if (by instanceof Refusal) return by
  const lines = query.lines === 'true' ? await linesOf(engine, stretch, page) : {}
  if (lines instanceof Refusal) return lines
  const key = tagKeyIn(query.group_by)
  if (key instanceof Refusal) return key
  const shown = await readTaggedBill(engine, asked, key)
  if (shown instanceof Refusal) return shown
  const { bill, ...items } = shown
  const margin = viewer?.role === 'member' ? {} : await marginOf(engine, stretch)
  if (by.length === 0) return { ...bill, ...margin, ...items, ...lines }
  const { rows } = await sumUsage(engine.store.read, { ...stretch, by })
  return { ...bill, ...margin, ...items, breakdown: rows, ...lines }
}

/** For staff: it is no part of the bill. */
async function marginOf({ store }: BaseDeps, stretch: Stretch) {
  const asked = { ...stretch, by: [], withCosts: true }
  const { total } = await sumUsage(store.read, asked, sumDays)
  return { cost: total.cost!, margin: total.margin!, cost_unknown: total.cost_unknown! }
}

async function listMonthsOf({ engine, account, page }: Ask) {
  const nowMs = engine.clock.nowMs()
  const found = await listMonths(engine.store.read, account!, { ...page, nowMs })
  return listOf(found, inCurrency(engine))
}

async function listBilled({ engine, query, page }: Ask<{ query: typeof accountsQuery }>) {
  const month = monthIn(engine, query.month)
  if (month instanceof Refusal) return month
  return listOf(await listAccountsOf(engine.store.read, month, page), inCurrency(engine))
}

async function printBill({ engine, query, account, x }: Ask<{ query: typeof statementQuery }>) {
  const asked = billOf(engine, account!, query.month)
  if (asked instanceof Refusal) return asked
  const key = tagKeyIn(query.group_by)
  if (key instanceof Refusal) return key
  const shown = await readTaggedBill(engine, asked, key)
  if (shown instanceof Refusal) return shown
  const { bill, items = [] } = shown
  const by = key === undefined ? {} : { by: { key, items } }
  const language = query.lang ?? 'en'
  return answerPage(x, billPage(bill, { language, nowMs: engine.clock.nowMs(), ...by }))
}

async function close({ engine, body, x }: Ask<{ body: typeof closeRequest }>) {
  const account = await findAccount(engine.store.read, body.account)
  if (account === undefined) {
    return body.account === '' ? wrong('account', 'is missing') : notFound('account', body.account)
  }
  const asked = billOf(engine, account, body.month)
  if (asked instanceof Refusal) return asked
  const done = await closeBill(engine, x, asked, body.note)
  if (done.kind !== 'closed') return refusalOf(asked, done)
  engine.jobs.notices.wake()
  return readBill(billDeps(engine), asked)
}

/** With its notice and its line in the audit log, all in the transaction that closes it. */
export const closeBill = (engine: Engine, x: RequestContext, asked: BillOf, note?: string) =>
  closeMonth(billDeps(engine), asked, note, async (tx, closed) => {
    const { account, month, charges, closing_balance, last_number, note } = closed
    const after = { month, charges, closing_balance, last_number, note }
    await auditChange(tx, x, { action: 'bill.close', subject: asked.accountId, after })
    const data = { account, month, amount: charges }
    await notify(tx, { type: 'bill.closed', atMs: x.atMs, data })
  })

const inCurrency = (engine: Declares) => (row: MonthRow) => ({
  ...row,
  currency: engine.declared.file.currency,
})

export function billOf(
  engine: BaseDeps & Declares,
  { id, name }: Pick<Account, 'id' | 'name'>,
  named: string | undefined,
): BillOf | Refusal {
  const month = monthIn(engine, named)
  if (month instanceof Refusal) return month
  return { accountId: id, account: name, month, currency: engine.declared.file.currency }
}

/** This one unless it is named; not one that has not begun. */
export function monthIn(engine: BaseDeps, named: string | undefined): string | Refusal {
  const running = monthAt(engine.clock.nowMs())
  const month = named ?? running
  if (monthBounds(month) === undefined) return wrong('month', 'must be of the form 2026-11')
  return month > running ? wrong('month', `is ${month}, which has not begun`) : month
}

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

export function answerPage(x: RequestContext, page: string, status = 200): Response {
  const headers = answerHeaders(x, 'text/html; charset=utf-8')
  headers['content-security-policy'] = billPagePolicy
  headers['x-content-type-options'] = 'nosniff'
  headers['referrer-policy'] = 'no-referrer'
  headers['cache-control'] = 'private, no-store'
  return new Response(page, { status, headers })
}

export function refusalOf({ month, account }: BillOf, done: Exclude<Closing, { kind: 'closed' }>) {
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

const route = routesOf({ tag: 'Bills', thing: 'bill', permission: forFinanceAndMembers })

export const billRoutes = [
  route('GET /bills', {
    id: 'getBill',
    summary: 'The bill of an account for a month',
    query: billQuery,
    answer: shownBill,
    files: { 'text/csv': text() },
    headers: ['content-disposition'],
    returns: 'The bill, or its lines as a table.',
    handle: showBill,
  }),
  route('GET /bills/months', {
    id: 'listMonths',
    summary: 'The months of an account, newest first',
    query: monthsQuery,
    defaultLimit: 12,
    answer: monthList,
    handle: listMonthsOf,
  }),
  route('GET /bills/accounts', {
    id: 'listBilledAccounts',
    permission: forFinance,
    summary: 'A month of all accounts',
    query: accountsQuery,
    answer: monthList,
    handle: listBilled,
  }),
  route('GET /bills/statement', {
    id: 'printBill',
    summary: 'A bill to print',
    query: statementQuery,
    files: { 'text/html': text() },
    returns: 'A page.',
    handle: printBill,
  }),
  route('POST /bills/close', {
    id: 'closeMonth',
    permission: forFinance,
    summary: 'Close a month: sign its bill for good',
    body: closeRequest,
    examples: { month: { account: 'acme', month: '2026-10' } },
    answer: bill,
    returns: 'The closed bill.',
    refusals: ['conflict', 'not_found'],
    handle: close,
  }),
]
