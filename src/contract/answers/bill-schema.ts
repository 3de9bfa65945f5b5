// Bills and usage as they go over the wire, to callers and to administrators alike.
import { z } from 'zod'
import { issuerDeclaration } from '../config-schema/issuer.ts'
import { profileFields } from '../config-schema/profile.ts'
import { column, count, money, time } from './fields.ts'

export const monthPattern = '^\\d{4}-(?:0[1-9]|1[0-2])$'

/** Of texts only. */
const tokenSums = {
  input_tokens: count().exactOptional(),
  output_tokens: count().exactOptional(),
  cache_read_tokens: count().exactOptional(),
  cache_write_tokens: count().exactOptional(),
}

export const usageRow = z
  .object({
    month: z.string().exactOptional(),
    day: z.string().exactOptional(),
    hour: z.string().exactOptional(),
    model: z.string().nullable().exactOptional(),
    token_id: z.string().nullable().exactOptional(),
    token: z.string().nullable().exactOptional(),
    tier: z.string().nullable().exactOptional(),
    price_id: z.string().nullable().exactOptional(),
    account_id: z.string().exactOptional(),
    account: z.string().nullable().exactOptional(),
    tag: z.string().nullable().exactOptional().describe('Null: charges without this tag.'),
    end_user: z.string().nullable().exactOptional().describe('Null: charges without one.'),
    unit: z.string().nullable().describe('Null where several units are added up.'),
    quantity: z.number().nullable(),
    charges: count().describe('How many charges.'),
    amount: money(),
    estimated: count().describe('How many of the charges are estimates.'),
    ...tokenSums,
  })
  .meta({ id: 'UsageRow' })

const state = z.enum(['open', 'closed'])

const figures = {
  account: z.string(),
  account_id: z.string(),
  month: z.string(),
  currency: z.string(),
  opening_balance: money(),
  credits: money(),
  adjustments: money(),
  charges: money().describe('What the month cost.'),
  refunds: money()
    .exactOptional()
    .describe('What was given back of charges in this month; absent in bills closed by 0.3.'),
  closing_balance: money(),
  charge_count: count(),
}

export const monthRow = z
  .object({
    account: column(z.string()),
    month: column(z.string()),
    state: column(state),
    charge_count: column(count(), 'charges'),
    credits: column(money(), 'credited'),
    adjustments: column(money(), 'adjusted'),
    charges: column(money(), 'charged').describe('What the month cost.'),
    refunds: column(money(), 'refunded').describe('What was given back of charges in this month.'),
    closing_balance: column(money()),
    opening_balance: money(),
    account_id: z.string(),
    currency: z.string(),
    closed_at: time().nullable(),
  })
  .meta({ id: 'Month' })

const billTotal = z.object({
  model: z.string().nullable(),
  unit: z.string().nullable(),
  charges: count(),
  quantity: z.number(),
  amount: money(),
  estimated: count(),
  ...tokenSums,
})

const billToken = z.object({
  token_id: z.string().nullable(),
  name: z.string().nullable(),
  charges: count(),
  amount: money(),
})

const movement = z.object({
  id: z.string(),
  at: time(),
  kind: z.enum(['credit', 'adjust', 'refund']),
  amount: money(),
  note: z.string().nullable(),
  refund_of: z
    .string()
    .exactOptional()
    .describe('Of a refund: the request or task whose charge was given back.'),
})

export const billFields = {
  ...figures,
  totals: z.array(billTotal),
  tokens: z.array(billToken),
  movements: z.array(movement),
  has_more_movements: z
    .boolean()
    .describe('There are more than are listed here; the lines have all.'),
  state,
  closed_at: time().nullable(),
  note: z.string().nullable(),
  last_number: count().nullable().describe('The last receipt that belongs to it.'),
  number: z
    .string()
    .nullable()
    .exactOptional()
    .describe('Of a closed bill: its month and a running number, without gaps.'),
  customer: z
    .object({ name: z.string(), ...profileFields })
    .exactOptional()
    .describe('As it was when the bill was closed; of an open one as it is.'),
  issuer: issuerDeclaration.nullable().exactOptional().describe('The same of who sends it.'),
  differences: z
    .array(z.object({ what: z.string(), closed: z.string(), ledger: z.string() }))
    .describe('Where a closed bill is not what the ledger says now.'),
  proof: z.object({ key: z.string(), signature: z.string() }).optional(),
  items: z
    .array(usageRow)
    .exactOptional()
    .describe('Charges by `group_by`; they add up to `charges`.'),
}

export const bill = z.object(billFields).meta({ id: 'Bill' })
