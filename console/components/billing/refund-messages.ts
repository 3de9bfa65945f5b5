// Texts of the form that gives a charge back.
import { defineMessages } from '../../lib/i18n.ts'

export const refundMessages = defineMessages({
  refund: ['Refund', '退款'],
  amount: ['Amount', '金额'],
  amount_hint: ['Empty: all that is left, {left}.', '留空则退还全部未退金额 {left}。'],
  too_much: ['Only {left} of the charge is left.', '该笔消费仅剩 {left} 可退。'],
  reason: ['Reason', '原因'],
  reason_hint: ['On the bill and in the audit log.', '显示在账单与审计日志中。'],
  charged: ['Charged', '已收取'],
  refunded: ['Refunded', '已退款'],
  left: ['Left', '可退'],
  lands_in: [
    'Booked now as credit of the account, on the bill of {month} (UTC).',
    '立即退回账户余额，计入 {month} 账单（UTC）。',
  ],
  done_text: [
    'Refunded {amount}. In all, {refunded} of this charge has been refunded.',
    '已退款 {amount}。该笔消费累计退款 {refunded}。',
  ],
  done: ['Done', '完成'],
})
