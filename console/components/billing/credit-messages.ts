// Texts of the form that credits an account.
import { defineMessages } from '../../lib/i18n.ts'

export const creditMessages = defineMessages({
  credit: ['Credit or take back', '充值或扣回'],
  add_credit: ['Add credit', '充值'],
  take_back: ['Take back', '扣回'],
  amount: ['Amount', '金额'],
  note: ['Note', '备注'],
  note_hint: ['On the bill and in the audit log.', '显示在账单与审计日志中。'],
  lands_in: [
    'Booked now, on the bill of {month} (UTC). Bills of closed months do not change.',
    '立即入账，计入 {month} 账单（UTC）。已结账月份不变。',
  ],
  booked: [
    'Booked {amount} on the bill of {month}. The balance is now {balance}.',
    '已入账 {amount}，计入 {month} 账单。当前余额 {balance}。',
  ],
  done: ['Done', '完成'],
  bill_of: ['Open the bill of {month}', '查看 {month} 账单'],
})
