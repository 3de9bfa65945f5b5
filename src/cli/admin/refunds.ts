// gateway request refund, gateway task refund: a charge, or a part of it, goes back to the account.
import { askCommand } from '../terminal/ask.ts'
import type { Command } from '../terminal/command.ts'
import { cell } from '../terminal/show.ts'
import { misuse } from '../terminal/stop.ts'

export const refundCommand = (thing: 'request' | 'task'): Command =>
  askCommand({
    path: [thing, 'refund'],
    args: ['ID'],
    summary: `give back the charge of a ${thing}, or a part of it`,
    flags: {
      amount: { value: 'AMOUNT', summary: 'a part of the charge; all that is left by default' },
      reason: { value: 'TEXT', summary: 'why, for the ledger and the bill' },
    },
    call: `POST /${thing}s/:id/refunds`,
    body({ line }) {
      const reason = line.text('reason')
      if (reason === undefined) throw misuse('say why: --reason TEXT')
      return { amount: line.amount('amount'), reason }
    },
    text: ({ id, amount, refunded }) =>
      `${cell(id)}  ${cell(amount)} given back; ${cell(refunded)} of this charge in all`,
  })
