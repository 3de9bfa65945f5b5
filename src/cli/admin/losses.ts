// gateway losses: what the operator pays of a month, and the single losses behind it.
import { loss, lossGroups, lossQuery, lossSummaryQuery } from '../../admin/money/loss-schema.ts'
import { askCommand } from '../terminal/ask.ts'
import { columnsOf, filtersOf, flagsOf } from '../terminal/columns.ts'
import type { Command } from '../terminal/command.ts'
import { listCommand } from '../terminal/list.ts'
import { cell, inCurrency, type Row, rowsOf, table } from '../terminal/show.ts'

const groups = ['reason', 'channel', 'model'] as const

function summaryText(summary: Row): string {
  const { month, currency } = summary
  if (summary['losses'] === 0) return `no losses in ${cell(month)}`
  const parts = groups.map((field) => {
    const rows: Row[] = rowsOf(summary[`by_${field}`]).map((row) => ({ currency, ...row }))
    return table(rows, columnsOf(lossGroups[field]))
  })
  const all = `${inCurrency(summary['amount'], summary)}, ${cell(summary['losses'])} losses`
  return [`${cell(month)}  ${all}`, ...parts].join('\n\n')
}

const monthQuery = lossSummaryQuery.omit({ from: true, to: true, ref: true })

export const lossCommands: readonly Command[] = [
  askCommand({
    path: ['losses'],
    summary: 'upstream work that no caller paid for, by reason, channel and model',
    flags: flagsOf(monthQuery),
    call: 'GET /losses/summary',
    query: ({ line }) => filtersOf(monthQuery, line),
    text: summaryText,
  }),
  listCommand(
    { path: ['losses', 'list'], summary: 'the single losses, newest first' },
    {
      path: '/losses',
      what: 'losses',
      item: loss,
      query: lossQuery,
      own: { 'request or task': (row) => cell(row['task_id'] ?? row['request_id']) },
    },
  ),
]
