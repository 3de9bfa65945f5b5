// gateway bill: a month of an account as a person reads it, the months there are, closing one, and
// its files.

import { accountsQuery, monthRow, monthsQuery } from '../../admin/money/bill-schema.ts'
import { flagsOf } from '../terminal/columns.ts'
import { type Command, type Context, type Outcome, pageFlags } from '../terminal/command.ts'
import { list } from '../terminal/list.ts'
import { saveFile } from '../terminal/save-file.ts'
import {
  type Column,
  cell,
  column,
  moneyColumn,
  numberColumn,
  type Row,
  rowOf,
  rowsOf,
  table,
} from '../terminal/show.ts'
import { misuse } from '../terminal/stop.ts'

const figures: readonly [title: string, field: string][] = [
  ['opening balance', 'opening_balance'],
  ['credits', 'credits'],
  ['adjustments', 'adjustments'],
  ['charges', 'charges'],
  ['refunds', 'refunds'],
  ['closing balance', 'closing_balance'],
]

/** The amounts, one below the other, aligned at the decimal point. */
function figuresText(bill: Row): string {
  const amounts = figures.map(([title, field]) => {
    const text = cell(bill[field])
    return { title, text, whole: text.split('.')[0]!.length }
  })
  const whole = Math.max(...amounts.map((each) => each.whole))
  const width = Math.max(...amounts.map((each) => whole - each.whole + each.text.length))
  return amounts
    .map((each) => {
      const text = `${' '.repeat(whole - each.whole)}${each.text}`.padEnd(width)
      return `${each.title.padEnd(17)}${text} ${cell(bill['currency'])}`
    })
    .join('\n')
}

const stateOf = (bill: Row): string =>
  bill['state'] === 'closed' ? `closed ${cell(bill['closed_at'])}` : cell(bill['state'])

const hasRefunds = (bill: Row): boolean =>
  rowsOf(bill['movements']).some((row) => row['refund_of'] !== undefined)

/** A section of a bill; nothing where it has no rows. */
function section(bill: Row, field: string, columns: readonly Column[]): string[] {
  const rows = rowsOf(bill[field]).map((row) => ({ currency: bill['currency'], ...row }))
  return rows.length === 0 ? [] : [table(rows, columns)]
}

/** Marked where some of the charges were counted by the gateway. */
const chargesColumn: Column = {
  title: 'charges',
  right: true,
  value: (row) => {
    const estimated = Number(row['estimated'] ?? 0)
    return estimated > 0 ? `${cell(row['charges'])} (${estimated} est.)` : cell(row['charges'])
  },
}

/** Its name, where it still has one. */
const tokenColumn: Column = {
  title: 'token',
  value: (row) => cell(row['name'] ?? row['token'] ?? row['token_id']),
}

const breakdownColumns: readonly [field: string, column: Column][] = [
  ['day', column('day')],
  ['token', tokenColumn],
  ['tier', column('tier')],
  ['price_id', column('price_id', 'price')],
]

function billText(answer: unknown): string {
  const bill = rowOf(answer)
  const used = [chargesColumn, numberColumn('quantity'), moneyColumn('amount')]
  const [first = {}] = rowsOf(bill['breakdown'])
  const finer = breakdownColumns.filter(([field]) => field in first).map(([, each]) => each)
  const charges =
    finer.length > 0
      ? section(bill, 'breakdown', [column('model'), column('unit'), ...finer, ...used])
      : section(bill, 'totals', [column('model'), column('unit'), ...used])
  const [item = {}] = rowsOf(bill['items'])
  const groupColumn = column('end_user' in item ? 'end_user' : 'tag')
  const note = typeof bill['note'] === 'string' ? [`note: ${cell(bill['note'])}`] : []
  return [
    `${cell(bill['account'])}  ${cell(bill['month'])}  ${stateOf(bill)}`,
    ...note,
    figuresText(bill),
    ...charges,
    ...section(bill, 'items', [groupColumn, chargesColumn, moneyColumn('amount')]),
    ...section(bill, 'tokens', [tokenColumn, chargesColumn, moneyColumn('amount')]),
    ...section(bill, 'movements', [
      column('at'),
      column('kind'),
      moneyColumn('amount'),
      column('note'),
      ...(hasRefunds(bill) ? [column('refund_of', 'of')] : []),
    ]),
    ...differencesText(bill),
  ].join('\n\n')
}

/** A closed bill that the ledger does not agree with any more. */
function differencesText(bill: Row): string[] {
  const rows = rowsOf(bill['differences'])
  if (rows.length === 0) return []
  const columns = [column('what'), column('closed', 'closed as'), column('ledger', 'ledger says')]
  return [`NOT WHAT THE LEDGER SAYS\n\n${table(rows, columns)}`]
}

async function saved({ line, admin }: Context, query: Record<string, string | undefined>) {
  const files: Awaited<ReturnType<typeof saveFile>>[] = []
  const save = async (path: string, file: string, more: Record<string, string | undefined>) => {
    const response = await admin.open('GET', path, { query: { ...query, ...more } })
    files.push(await saveFile(response, file, 'the file'))
  }
  const [csv, statement] = [line.text('csv'), line.text('statement')]
  if (csv !== undefined) await save('/bills', csv, { format: 'csv' })
  if (statement !== undefined) {
    const groupBy = line.text('group-by')
    await save('/bills/statement', statement, { lang: line.text('lang'), group_by: groupBy })
  }
  return files
}

async function runBill(context: Context): Promise<Outcome> {
  const { line, admin } = context
  const query = { account: line.arg(0), month: line.text('month') }
  if (line.text('lang') !== undefined && line.text('statement') === undefined) {
    throw misuse('--lang is the language of --statement FILE')
  }
  const files = await saved(context, query)
  if (files.length > 0) {
    const text = files.map((file) => file.text).join('\n')
    return { answer: { files: files.map(({ answer }) => answer) }, text }
  }
  const grouped = { by: line.text('by'), group_by: line.text('group-by') }
  const answer = await admin.ask('GET', '/bills', { query: { ...query, ...grouped } })
  return { answer, text: billText(answer), ok: rowsOf(rowOf(answer)['differences']).length === 0 }
}

/** The currency stands behind the last amount alone. */
const own = {
  credited: (row: Row) => cell(row['credits']),
  adjusted: (row: Row) => cell(row['adjustments']),
  charged: (row: Row) => cell(row['charges']),
  refunded: (row: Row) => cell(row['refunds']),
}

async function listBills(context: Context): Promise<Outcome> {
  const [account, month] = [context.line.text('account'), context.line.text('month')]
  if (account !== undefined && month !== undefined) {
    throw misuse('bill list takes --account or --month; for one bill, gateway bill ACCOUNT')
  }
  return list(
    context,
    account === undefined
      ? { path: '/bills/accounts', what: 'accounts', item: monthRow, query: accountsQuery, own }
      : {
          path: '/bills/months',
          what: 'months',
          item: monthRow.omit({ account: true }),
          query: monthsQuery,
          own,
        },
  )
}

export const billCommands: readonly Command[] = [
  {
    path: ['bill'],
    args: ['ACCOUNT'],
    summary: 'what a month cost, by model, unit and token',
    flags: {
      month: { value: 'YYYY-MM', summary: 'which month, by UTC (this one)' },
      by: { value: 'KEYS', summary: 'finer: token, tier, price, day, with commas between them' },
      'group-by': { value: 'KEY', summary: 'also by a tag, as tag:team, or by end_user' },
      csv: { value: 'FILE', summary: 'save all its lines as a table for spreadsheets' },
      statement: { value: 'FILE', summary: 'save it as a page to print (HTML)' },
      lang: { value: 'LANG', summary: 'language of the page: en or zh (en)' },
    },
    run: runBill,
  },
  {
    path: ['bill', 'list'],
    args: [],
    summary: 'the bills of a month, or the months of an account',
    flags: { ...flagsOf(monthsQuery), ...flagsOf(accountsQuery), ...pageFlags },
    run: listBills,
  },
  {
    path: ['bill', 'close'],
    args: ['ACCOUNT', 'MONTH'],
    summary: 'close a month that is over: its bill is signed and does not change any more',
    flags: { note: { value: 'TEXT', summary: 'goes onto the bill' } },
    async run({ line, admin }) {
      const note = line.text('note')
      const body = { account: line.arg(0), month: line.arg(1), ...(note !== undefined && { note }) }
      const answer = await admin.ask('POST', '/bills/close', { body })
      const bill = rowOf(answer)
      const text = `${cell(bill['account'])}  ${cell(bill['month'])}  ${stateOf(bill)}\n\n${figuresText(bill)}`
      const differences = differencesText(bill)
      const ok = differences.length === 0
      return { answer, text: [text, ...differences].join('\n\n'), ok }
    },
  },
]
