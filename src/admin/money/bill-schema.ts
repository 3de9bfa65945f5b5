// Bills and months as the admin API tells of them; their figures are those that callers get too.
import { z } from 'zod'
import {
  bill,
  billFields,
  monthPattern,
  monthRow,
  usageRow,
} from '../../contract/answers/bill-schema.ts'
import { count, money, pageFields, pageOf, query, staffOnly } from '../schema.ts'
import { entry } from './account-schema.ts'

export { bill, monthRow }

export const monthList = pageOf(monthRow, 'MonthPage')

const billLine = z.object({ ...entry.shape, number: count().min(1), balance: money() })

export const shownBill = z
  .object({
    ...billFields,
    cost: staffOnly(money(), 'What upstreams take for the month, as far as that is known.'),
    margin: staffOnly(money(), 'Charges less refunds less cost.'),
    cost_unknown: staffOnly(count(), 'How many charges have no known cost.'),
    breakdown: z.array(usageRow).exactOptional(),
    lines: z.array(billLine).exactOptional(),
    next_cursor: z.string().nullable().exactOptional(),
  })
  .meta({ id: 'ShownBill' })

const account = z
  .string()
  .min(1, 'is missing')
  .meta({ description: 'Id or name of an account.', flag: 'ID|NAME' })

export const monthField = query
  .text('Such as `2026-11`, by UTC; default: this month.', 'YYYY-MM')
  .meta({ pattern: monthPattern })

const groupField = query.text('A tag, as `tag:team`, or `end_user`.', 'KEY')

export const billQuery = z.object({
  account,
  month: monthField,
  format: query.choice(['json', 'csv']),
  by: query.text('Some of token, tier, price, day, with commas between them.'),
  group_by: groupField,
  lines: z.enum(['true', 'false']).optional(),
  ...pageFields,
})
export const monthsQuery = z.object({ account, ...pageFields })
export const accountsQuery = z.object({ month: monthField, ...pageFields })
export const statementQuery = z.object({
  account,
  month: monthField,
  lang: query.choice(['en', 'zh']),
  group_by: groupField,
})
export const closeRequest = z
  .strictObject({ account: z.string(), month: z.string(), note: z.string().max(500).optional() })
  .meta({ id: 'CloseMonth' })

export type Bill = z.infer<typeof shownBill>
export type BillLine = z.infer<typeof billLine>
export type MonthRow = z.infer<typeof monthRow>
