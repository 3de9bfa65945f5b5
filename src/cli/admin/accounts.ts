// gateway account: accounts, what is left on them, and every entry of their ledger.
import {
  account,
  accountChange,
  accountQuery,
  entry,
  entryQuery,
} from '../../admin/money/account-schema.ts'
import { askCommand } from '../terminal/ask.ts'
import { accountBudgetFlags, accountBudgetsIn } from '../terminal/budget-flags.ts'
import { columnsOf } from '../terminal/columns.ts'
import type { Command } from '../terminal/command.ts'
import { amountOf } from '../terminal/line.ts'
import { listCommand } from '../terminal/list.ts'
import { cell, moneyColumn, type Row } from '../terminal/show.ts'

const ownColumns = {
  amount: (row: Row) =>
    `${moneyColumn('amount').value(row)}${row['estimated'] === true ? ' est.' : ''}`,
  reference: (row: Row) => cell(row['request_id'] ?? row['task_id']),
}
export const entryColumns = columnsOf(entry, ownColumns)

const args = ['ID|NAME']

export const accountCommands: readonly Command[] = [
  askCommand({
    path: ['account', 'create'],
    args: ['NAME'],
    summary: 'open an account',
    flags: {
      balance: { value: 'AMOUNT', summary: 'opening balance, such as 100.00' },
      ...accountBudgetFlags,
    },
    call: 'POST /accounts',
    body: ({ line }) => ({
      name: line.arg(0),
      balance: line.amount('balance'),
      ...accountBudgetsIn(line),
    }),
  }),
  askCommand({
    path: ['account', 'update'],
    args,
    summary:
      'change its threshold, tags that its calls may carry, how end users are kept, its budgets',
    call: 'PATCH /accounts/:id',
    input: { schema: accountChange, without: ['budget', 'tag_budgets'] },
    flags: accountBudgetFlags,
    body: ({ line }) => accountBudgetsIn(line),
  }),
  listCommand(
    { path: ['account', 'list'], summary: 'all accounts with what is left on them' },
    { path: '/accounts', what: 'accounts', item: account, query: accountQuery },
  ),
  askCommand({
    path: ['account', 'show'],
    args,
    summary: 'one account',
    call: 'GET /accounts/:id',
  }),
  askCommand({
    path: ['account', 'credit'],
    args: ['ID|NAME', 'AMOUNT'],
    summary: 'top up, or take back with a negative amount',
    flags: { note: { value: 'TEXT', summary: 'why, for the ledger' } },
    call: 'POST /accounts/:id/credits',
    body: ({ line }) => ({
      amount: amountOf(line.arg(1), 'AMOUNT'),
      note: line.text('note'),
    }),
  }),
  listCommand(
    { path: ['account', 'ledger'], args, summary: 'every entry of an account' },
    {
      path: '/accounts/:id/ledger',
      what: 'entries',
      item: entry,
      query: entryQuery,
      own: ownColumns,
    },
  ),
]
