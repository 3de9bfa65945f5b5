// gateway code: codes that members redeem for credit.
import { code, codeOrder, codeQuery } from '../../admin/money/code-schema.ts'
import { askCommand } from '../terminal/ask.ts'
import type { Command } from '../terminal/command.ts'
import { amountOf } from '../terminal/line.ts'
import { listCommand } from '../terminal/list.ts'
import { cell, rowsOf } from '../terminal/show.ts'

export const codeCommands: readonly Command[] = [
  askCommand({
    path: ['code', 'create'],
    args: ['AMOUNT'],
    summary: 'make codes that members redeem for credit; they are shown this once',
    call: 'POST /codes',
    input: { schema: codeOrder, without: ['amount'] },
    body: ({ line }) => ({ amount: amountOf(line.arg(0), 'AMOUNT') }),
    text: ({ items }) =>
      rowsOf(items)
        .map((row) => `${cell(row['id'])}  ${cell(row['code'])}`)
        .join('\n'),
  }),
  listCommand(
    { path: ['code', 'list'], summary: 'codes, newest first, and who redeemed them' },
    { path: '/codes', what: 'codes', item: code, query: codeQuery },
  ),
  askCommand({
    path: ['code', 'delete'],
    args: ['ID'],
    summary: 'withdraw a code that was not redeemed',
    call: 'DELETE /codes/:id',
  }),
]
