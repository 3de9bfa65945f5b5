// Accounts and their ledgers as the admin API tells of them.
import { z } from 'zod'
import { entryKinds } from '../../contract/ledger.ts'
import { column, modelField, money, pageFields, pageOf, source, time } from '../schema.ts'

export const account = z
  .object({
    id: column(z.string()),
    name: column(z.string()),
    currency: z.string(),
    balance: column(money()).describe('All entries but holds and releases.'),
    held: column(money()).describe('What holds have set aside.'),
    available: column(money()).describe('Balance less held.'),
    source,
    created_at: time(),
    suspended_since: time()
      .exactOptional()
      .describe('Since when nothing billable is begun for it.'),
  })
  .meta({ id: 'Account' })
export const accountList = pageOf(account, 'AccountList')

export const entry = z
  .object({
    id: z.string(),
    at: column(time()),
    kind: column(z.enum(entryKinds)),
    amount: column(money()).describe('Negative when it takes from the account.'),
    model: column(z.string().nullable()),
    unit: column(z.string().nullable()),
    tier: z.string().nullable(),
    quantity: column(z.number().nullable()),
    request_id: column(z.string().nullable(), 'reference'),
    task_id: z.string().nullable(),
    price_id: column(z.string().nullable()),
    estimated: z.boolean(),
    note: column(z.string().nullable()),
  })
  .meta({ id: 'Entry' })
export const entryList = pageOf(entry, 'EntryList')

export const listQuery = z.object(pageFields)
export const paidPriceQuery = z.object({ model: modelField, ...pageFields })

export type Account = z.infer<typeof account>
