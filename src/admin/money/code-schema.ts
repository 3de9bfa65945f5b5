// Codes for credit as the admin API takes and shows them.
import { z } from 'zod'
import { amount, timestamp } from '../../contract/config-schema/fields.ts'
import { column, money, pageFields, pageOf, time } from '../schema.ts'

/** At once. */
const maxCodes = 1_000

export const codeOrder = z
  .strictObject({
    amount: amount('What each of them is worth.').refine(
      (text) => /[1-9]/.test(text),
      'must be above 0',
    ),
    count: z.int().min(1).max(maxCodes).optional().describe('How many; 1 if left out.'),
    expires_at: timestamp('When they stop working. Left out, never.').optional(),
    note: z.string().max(500).optional().describe('For the ledger of who redeems one.'),
  })
  .meta({ id: 'CodeOrder' })

export const newCodes = z
  .object({
    items: z.array(z.object({ id: z.string(), code: z.string().describe('Shown this once.') })),
  })
  .meta({ id: 'NewCodes' })

export const code = z
  .object({
    id: column(z.string()),
    amount: column(money()),
    state: column(z.enum(['open', 'redeemed', 'expired'])),
    account: column(z.string().nullable()).describe('Which account redeemed it.'),
    redeemed_at: column(time().nullable()),
    expires_at: column(time().nullable()),
    note: column(z.string().nullable()),
    created_by: z.string(),
    created_at: column(time()),
  })
  .meta({ id: 'Code' })
export const codeList = pageOf(code, 'CodeList')
export const codeQuery = z.object(pageFields)

export const redemption = z
  .strictObject({ code: z.string().min(1).max(100) })
  .meta({ id: 'Redemption' })
export const redeemed = z
  .object({
    id: z.string(),
    amount: money(),
    currency: z.string(),
    balance: money().describe('Of the account afterwards.'),
  })
  .meta({ id: 'Redeemed' })
