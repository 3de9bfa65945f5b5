// gateway bill: a month of an account, as a person reads it.
import type { Command } from './command.ts'
import {
  cell,
  column,
  inCurrency,
  moneyColumn,
  numberColumn,
  rowOf,
  rowsOf,
  table,
} from './show.ts'

function billText(answer: unknown): string {
  const bill = rowOf(answer)
  const money = (name: string) => inCurrency(bill[name], bill)
  const totals = rowsOf(bill['totals']).map((row) => ({ currency: bill['currency'], ...row }))
  const lines = [
    `${cell(bill['account'])}  ${cell(bill['month'])}`,
    [
      `opening balance  ${money('opening_balance')}`,
      `credits          ${money('credits')}`,
      `adjustments      ${money('adjustments')}`,
      `charges          ${money('charges')}`,
      `closing balance  ${money('closing_balance')}`,
    ].join('\n'),
  ]
  if (totals.length > 0) {
    const columns = [
      column('model'),
      column('unit'),
      numberColumn('charges'),
      numberColumn('quantity'),
      moneyColumn('amount'),
    ]
    lines.push(table(totals, columns))
  }
  return lines.join('\n\n')
}

export const billCommands: readonly Command[] = [
  {
    path: ['bill'],
    args: ['ACCOUNT'],
    summary: 'what a month cost, by model and unit',
    flags: { month: { value: 'YYYY-MM', summary: 'which month, by UTC (this one)' } },
    async run({ line, admin }) {
      const query = { account: line.arg(0), month: line.text('month') }
      const answer = await admin.ask('GET', '/bills', { query })
      return { answer, text: billText(answer) }
    },
  },
]
