// A month of all accounts as the admin API tells of it: its totals, what came of closing it, and links to
// single bills.
import { z } from 'zod'
import { monthPattern } from '../../contract/answers/bill-schema.ts'
import { emailPattern } from '../../contract/notices/mail.ts'
import { monthField } from '../money/bill-schema.ts'
import { column, count, money, pageOf, query, time } from '../schema.ts'

const month = z.string().describe('Such as `2026-10`, by UTC.')

export const monthTotals = z
  .object({
    month,
    currency: z.string(),
    accounts: column(count()),
    open: column(count()).describe('Accounts whose month is open.'),
    closed: column(count()),
    charge_count: count(),
    opening_balance: money(),
    credits: column(money()),
    adjustments: column(money()),
    refunds: column(money()),
    charges: column(money()),
    closing_balance: column(money()),
  })
  .meta({ id: 'MonthTotals' })
export const totalsQuery = z.object({ month: monthField })

export const closeAllRequest = z
  .strictObject({
    month: z.string(),
    note: z.string().max(500).optional(),
    cursor: z.string().optional().describe('`next_cursor` of the answer before.'),
  })
  .meta({ id: 'CloseMonthOfAll' })

export const refusedClosing = z.object({
  account: column(z.string()),
  code: z.string(),
  reason: column(z.string()),
})

export const closedMonths = z
  .object({
    month,
    closed: count().describe('Closed by this call.'),
    already_closed: count(),
    refused: z.array(refusedClosing),
    next_cursor: z.string().nullable().describe('Not null: there are more accounts; ask again.'),
  })
  .meta({ id: 'ClosedMonths' })

const lang = query.choice(['en', 'zh'], 'Of the pages. Default `en`.')

export const archiveQuery = z.object({ month: monthField, lang })

export const sendAllRequest = z
  .strictObject({
    month: z.string(),
    lang: z.enum(['en', 'zh']).optional().describe('Of mail and page. Default `en`.'),
    cursor: z.string().optional().describe('`next_cursor` of the answer before.'),
  })
  .meta({ id: 'SendMonth' })

export const sendRequest = z
  .strictObject({
    account: z.string().describe('Id or name.'),
    month: z.string(),
    lang: z.enum(['en', 'zh']).optional().describe('Of mail and page. Default `en`.'),
  })
  .meta({ id: 'SendBill' })

export const sentBill = z
  .object({
    account: z.string(),
    month,
    email: z.string(),
    sent: z.boolean(),
    reason: z.string().nullable().describe('Why the mail server did not take it.'),
  })
  .meta({ id: 'SentBill' })

export const failedMail = z.object({
  account: column(z.string()),
  email: column(z.string()),
  reason: column(z.string()),
})

const mailCounts = {
  month,
  closed: count().describe('Bills that are closed.'),
  sent: count().describe('Of these, those that a mail server has taken, ever.'),
  left: count().describe('Not tried yet.'),
  failed: count().describe(
    'The last attempt failed; they are tried again when bills are sent again.',
  ),
  without_address: count().describe('Not sent: the account has no `email`.'),
}

export const sentMonth = z
  .object({
    ...mailCounts,
    failures: z.array(failedMail).describe('Of this call.'),
    next_cursor: z.string().nullable().describe('Not null: there are more bills; ask again.'),
  })
  .meta({ id: 'SentMonth' })

export const mailsQuery = z.object({ month: monthField })
export const billMails = z
  .object({
    ...mailCounts,
    failures: z.array(failedMail).describe('At most 1,000.'),
    accounts_without_address: z.array(z.string()).describe('At most 1,000.'),
  })
  .meta({ id: 'BillMails' })

const accountMeta = { description: 'Id or name of an account.', flag: 'ID|NAME' }
const account = z.string().min(1, 'is missing').meta(accountMeta)

const isDay = (value: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(value) &&
  !Number.isNaN(Date.parse(value)) &&
  new Date(value).toISOString().startsWith(value)

const day = (description: string) =>
  z
    .string({ error: 'must be a day such as 2026-10-01' })
    .refine(isDay, 'must be a day such as 2026-10-01')
    .meta({ description, flag: 'YYYY-MM-DD' })

export const focusQuery = z.object({
  from: day('The first day, by UTC.'),
  to: day('The last day, which is included.'),
  account: account.optional().meta(accountMeta),
})

const maxLinkDays = 90

export const linkQuery = z.object({
  account,
  month: monthField,
  lang: query.choice(['en', 'zh'], 'Of the page. Default `en`.'),
  days: query.whole(1, maxLinkDays, 'How long the link works. Default 30.'),
  email: z
    .string()
    .regex(emailPattern, 'must be an e-mail address')
    .optional()
    .meta({ description: 'Also send the link there. Not for members.', flag: 'ADDRESS' }),
})
export const sharedQuery = z.object({ code: query.text('The end of the link.') })

export const linksQuery = z.object({
  account,
  month: z
    .string()
    .regex(new RegExp(monthPattern), 'must be of the form 2026-11')
    .optional()
    .meta({ description: 'Such as `2026-10`; default: all.', flag: 'YYYY-MM' }),
})

export const billLink = z
  .object({
    id: column(z.string()),
    account: z.string(),
    month: column(month),
    lang: z.enum(['en', 'zh']).describe('Of the page.'),
    emailed_to: column(z.string().nullable(), 'sent to').describe('Where the link was sent.'),
    created_by: column(z.string().nullable(), 'made by').describe(
      'Null for members where the operator made it.',
    ),
    created_at: time(),
    expires_at: column(time(), 'expires'),
  })
  .meta({ id: 'BillLink' })
export const billLinkList = pageOf(billLink, 'BillLinkList')

export const newBillLink = billLink
  .extend({ url: z.string().describe('In this answer only.') })
  .meta({ id: 'NewBillLink' })

export type MonthTotals = z.infer<typeof monthTotals>
export type ClosedMonths = z.infer<typeof closedMonths>
export type SentMonth = z.infer<typeof sentMonth>
export type SentBill = z.infer<typeof sentBill>
export type BillMails = z.infer<typeof billMails>
export type BillLink = z.infer<typeof billLink>
export type NewBillLink = z.infer<typeof newBillLink>
