// gateway account: who pays, what is left, and every movement.
import { type Command, pageFlags } from './command.ts'
import { list, segment } from './legacy-list.ts'
import { amountOf } from './line.ts'
import { type Column, cell, column, moneyColumn, numberColumn, record, rowOf } from './show.ts'

export const entryColumns: readonly Column[] = [
  column('at'),
  column('kind'),
  {
    ...moneyColumn('amount'),
    value: (row) =>
      `${moneyColumn('amount').value(row)}${row['estimated'] === true ? ' est.' : ''}`,
  },
  column('model'),
  column('unit'),
  numberColumn('quantity'),
  { title: 'reference', value: (row) => cell(row['request_id'] ?? row['task_id']) },
  column('price_id'),
  column('note'),
]

export const accountCommands: readonly Command[] = [
  {
    path: ['account', 'create'],
    args: ['NAME'],
    summary: 'open an account',
    flags: { balance: { value: 'AMOUNT', summary: 'opening balance, such as 100.00' } },
    async run({ line, admin }) {
      const body = { name: line.arg(0), balance: line.amount('balance') }
      const answer = await admin.ask('POST', '/accounts', { body })
      return { answer, text: record(rowOf(answer)) }
    },
  },
  {
    path: ['account', 'list'],
    args: [],
    summary: 'all accounts with what is left on them',
    flags: pageFlags,
    run: (context) =>
      list(context, {
        path: '/accounts',
        what: 'accounts',
        columns: [
          column('id'),
          column('name'),
          moneyColumn('balance'),
          moneyColumn('held'),
          moneyColumn('available'),
        ],
      }),
  },
  {
    path: ['account', 'show'],
    args: ['ID|NAME'],
    summary: 'one account',
    flags: {},
    async run({ line, admin }) {
      const answer = await admin.ask('GET', `/accounts/${segment(line.arg(0))}`)
      return { answer, text: record(rowOf(answer)) }
    },
  },
  {
    path: ['account', 'credit'],
    args: ['ID|NAME', 'AMOUNT'],
    summary: 'top up, or take back with a negative amount',
    flags: { note: { value: 'TEXT', summary: 'why, for the ledger' } },
    async run({ line, admin }) {
      const body = { amount: amountOf(line.arg(1), 'AMOUNT'), note: line.text('note') }
      const path = `/accounts/${segment(line.arg(0))}/credits`
      const answer = await admin.ask('POST', path, { body })
      return { answer, text: record(rowOf(answer)) }
    },
  },
  {
    path: ['account', 'ledger'],
    args: ['ID|NAME'],
    summary: 'every movement of an account',
    flags: pageFlags,
    run: (context) =>
      list(context, {
        path: `/accounts/${segment(context.line.arg(0))}/ledger`,
        what: 'entries',
        columns: entryColumns,
      }),
  },
]
