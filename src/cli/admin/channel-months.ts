// gateway month: a month against what upstreams billed.
import {
  channelMonth,
  channelMonthQuery,
  disputeQuery,
  type MonthChecklist,
  monthChecklist,
  monthLine,
  monthLineQuery,
} from '../../admin/months/month-schema.ts'
import { askCommand } from '../terminal/ask.ts'
import { columnsOf } from '../terminal/columns.ts'
import type { Command } from '../terminal/command.ts'
import { listCommand } from '../terminal/list.ts'
import { cell, type Row, table } from '../terminal/show.ts'

const stepColumns = columnsOf(monthChecklist.shape.steps.element)

export const channelMonthCommands: readonly Command[] = [
  askCommand({
    path: ['month', 'show'],
    args: ['MONTH'],
    summary: 'what is left to do for a month, step by step',
    call: 'GET /months/:id',
    text: (answer) => table((answer as MonthChecklist & Row).steps, stepColumns),
  }),
  listCommand(
    {
      path: ['month', 'channels'],
      args: ['MONTH'],
      summary: 'for each channel what was billed, what it should cost, and the difference',
    },
    {
      path: '/months/:id/channels',
      what: 'channels',
      item: channelMonth,
      query: channelMonthQuery,
    },
  ),
  listCommand(
    {
      path: ['month', 'lines'],
      args: ['MONTH'],
      summary: 'the lines of a month of a channel, each with what explains it',
    },
    { path: '/months/:id/lines', what: 'lines', item: monthLine, query: monthLineQuery },
  ),
  listCommand(
    {
      path: ['month', 'dispute'],
      args: ['MONTH'],
      summary: 'what to ask the upstream about; --out FILE.csv or FILE.jsonl saves all of it',
    },
    { path: '/months/:id/dispute', what: 'lines', item: monthLine, query: disputeQuery },
  ),
  askCommand({
    path: ['month', 'close'],
    args: ['MONTH'],
    summary: 'close the month of a channel: book the difference and sign it for good',
    call: 'POST /months/:id/close',
    flags: {
      channel: { value: 'NAME', summary: 'which channel', required: true },
      note: { value: 'TEXT', summary: 'such as the number of the invoice' },
      reason: { value: 'TEXT', summary: 'why it is closed although lines are unexplained' },
    },
    body: ({ line }) => ({
      ...{ channel: line.text('channel'), note: line.text('note'), reason: line.text('reason') },
    }),
    text: (answer) =>
      `${cell(answer['channel'])} ${cell(answer['month'])} is closed, difference ` +
      `${cell(answer['difference'])} ${cell(answer['currency'])}`,
  }),
]
