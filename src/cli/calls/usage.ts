// gateway usage: what was charged in a period, row by row and in total.
import { usageQuery } from '../../admin/traffic/traffic-schema.ts'
import { askCommand } from '../terminal/ask.ts'
import { filtersOf, flagsOf } from '../terminal/columns.ts'
import type { Command } from '../terminal/command.ts'
import {
  type Column,
  cell,
  column,
  inCurrency,
  moneyColumn,
  numberColumn,
  type Row,
  rowOf,
  rowsOf,
  table,
} from '../terminal/show.ts'

/** What rows are by, in the order of columns; of a name and its id, the name. */
const keys: readonly (readonly [field: string, column: Column])[] = [
  ...['month', 'day', 'hour', 'account', 'model'].map((field) => [field, column(field)] as const),
  ['token_id', { title: 'token', value: (row) => cell(row['token'] ?? row['token_id']) }],
  ['tier', column('tier')],
  ['price_id', column('price_id', 'price')],
  ['tag', column('tag')],
  ['end_user', column('end_user')],
]

function usageText(answer: Row): string {
  const { currency } = answer
  const rows = rowsOf(answer).map((row) => ({ currency, ...row }))
  const period = `${cell(answer['from'])} to ${cell(answer['to'])}`
  if (rows.length === 0) return `no charges from ${period}`
  const total = rowOf(answer['total'])
  const by = keys.filter(([field]) => field in rows[0]!).map(([, each]) => each)
  const sums = [column('unit'), numberColumn('charges'), numberColumn('quantity')]
  return [
    `${period}  ${inCurrency(total['amount'], { currency })}, ${cell(total['charges'])} charges`,
    table(rows, [...by, ...sums, moneyColumn('amount')]),
  ].join('\n\n')
}

export const usageCommand: Command = askCommand({
  path: ['usage'],
  summary: 'what was charged, by day, model, token, account or tag',
  flags: flagsOf(usageQuery),
  call: 'GET /usage',
  query: ({ line }) => filtersOf(usageQuery, line),
  text: usageText,
})
