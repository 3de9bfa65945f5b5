// A closed bill as an e-mail: its figures as text, and the page to print attached.
import { billPage } from '../../billing/bills/page/page.ts'
import type { PageLanguage } from '../../billing/bills/page/words.ts'
import type { ShownBill } from '../../billing/bills/read-bill.ts'
import { nameOnBills } from '../../contract/config-schema/profile-fields.ts'
import { pageName } from '../../engine/books/month-file.ts'

const words = {
  en: {
    subject: 'Bill',
    intro: 'Your bill is attached as a page to print.',
    number: 'Number',
    account: 'Account',
    month: 'Month',
    charges: 'Charges',
    refunds: 'Refunds',
    closingBalance: 'Closing balance',
  },
  zh: {
    subject: '账单',
    intro: '账单见附件，可直接打印。',
    number: '编号',
    account: '账户',
    month: '月份',
    charges: '费用',
    refunds: '退款',
    closingBalance: '期末余额',
  },
} as const satisfies Record<PageLanguage, object>

export function billMail(bill: ShownBill, language: PageLanguage, nowMs: number) {
  const said = words[language]
  const { number, account_id, month, currency, issuer } = bill
  const customer = nameOnBills(bill.account, bill.customer)
  const lines: [string, string][] = [
    ...(number == null ? [] : [[said.number, number] as [string, string]]),
    [said.account, customer],
    [said.month, month],
    [said.charges, `${bill.charges} ${currency}`],
    ...(bill.refunds === undefined
      ? []
      : [[said.refunds, `${bill.refunds} ${currency}`] as [string, string]]),
    [said.closingBalance, `${bill.closing_balance} ${currency}`],
  ]
  const text = lines.map(([name, value]) => `${name}: ${value}\n`).join('')
  const from = issuer == null ? '' : `\n${issuer.name}\n`
  return {
    // The same whenever it is sent: who gets it twice can tell.
    id: `bill-${month}-${account_id}`,
    subject: `${said.subject} ${number ?? month} · ${customer}`,
    text: `${said.intro}\n\n${text}${from}`,
    attachment: {
      name: pageName(bill),
      type: 'text/html; charset=utf-8',
      text: billPage(bill, { language, nowMs }),
    },
  }
}
