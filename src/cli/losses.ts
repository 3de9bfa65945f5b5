// gateway losses: what the operator bears of a month, and the single losses behind it.
import { type Command, pageFlags } from './command.ts'
import { list } from './legacy-list.ts'
import {
  cell,
  column,
  inCurrency,
  moneyColumn,
  numberColumn,
  type Row,
  rowOf,
  rowsOf,
  table,
} from './show.ts'

const groups = ['reason', 'channel', 'model']

function summaryText(answer: unknown): string {
  const summary = rowOf(answer)
  const { month, currency } = summary
  if (summary['losses'] === 0) return `no losses in ${cell(month)}`
  const parts = groups.map((field) => {
    const rows: Row[] = rowsOf(summary[`by_${field}`]).map((row) => ({ currency, ...row }))
    return table(rows, [
      column(field),
      numberColumn('losses'),
      moneyColumn('amount'),
      moneyColumn('estimated', 'of it estimated'),
    ])
  })
  const all = `${inCurrency(summary['amount'], summary)}, ${cell(summary['losses'])} losses`
  return [`${cell(month)}  ${all}`, ...parts].join('\n\n')
}

const filterFlags = {
  account: { value: 'NAME', summary: 'of one account' },
  reason: { value: 'REASON', summary: 'balance_short, failed_after_cost, late_success, …' },
  channel: { value: 'NAME', summary: 'of one channel' },
  model: { value: 'MODEL', summary: 'of one model' },
} as const

const filters = Object.keys(filterFlags)

export const lossCommands: readonly Command[] = [
  {
    path: ['losses'],
    args: [],
    summary: 'upstream work that no caller paid for, by reason, channel and model',
    flags: {
      month: { value: 'YYYY-MM', summary: 'which month, by UTC (this one)' },
      ...filterFlags,
    },
    async run({ line, admin }) {
      const query = { month: line.text('month'), ...filtersIn(line) }
      const answer = await admin.ask('GET', '/losses/summary', { query })
      return { answer, text: summaryText(answer) }
    },
  },
  {
    path: ['losses', 'list'],
    args: [],
    summary: 'the single losses, newest first',
    flags: {
      ...filterFlags,
      from: { value: 'TIME', summary: 'from this moment on' },
      to: { value: 'TIME', summary: 'before this moment' },
      ...pageFlags,
    },
    run: (context) =>
      list(context, {
        path: '/losses',
        what: 'losses',
        query: {
          ...filtersIn(context.line),
          from: context.line.time('from'),
          to: context.line.time('to'),
        },
        columns: [
          column('at'),
          column('reason'),
          moneyColumn('amount'),
          column('estimated'),
          column('channel'),
          column('model'),
          { title: 'request or task', value: (row) => cell(row['task_id'] ?? row['request_id']) },
        ],
      }),
  },
]

const filtersIn = (line: { text(name: string): string | undefined }) =>
  Object.fromEntries(filters.map((name) => [name, line.text(name)]))
