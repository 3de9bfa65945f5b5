// A month beside what upstreams billed: for each channel, its lines, what goes to the upstream, and the steps that
// close it.
import { z } from 'zod'
import { channelField, column, count, money, pageFields, pageOf, query, time } from '../schema.ts'

const lineReasons = [
  'matched',
  'rounding',
  'late',
  'loss',
  'price_differs',
  'quantity_differs',
  'model_differs',
  'day_differs',
  'billed_twice',
  'exchange',
  'unknown_cost',
  'upstream_only',
  'gateway_only',
] as const
const reason = z.enum(lineReasons)
const month = z.string().describe('Such as `2026-10`.')

const reasonRow = z.object({
  reason,
  lines: count(),
  invoice: money(),
  ours: money(),
  difference: money(),
  explained: z.boolean().describe('It needs no question to the upstream.'),
})

const figures = {
  explained_by: z.array(reasonRow).describe('Their differences add up to the difference.'),
  unexplained_lines: column(count(), 'unexplained').describe('Lines of reasons not explained.'),
  missing_days: z
    .array(z.string())
    .describe('Days that are over and that no statement is about, such as `2026-10-03`.'),
}

const closing = z
  .object({
    kind: z.literal('channel_month'),
    channel: z.string(),
    month,
    currency: z.string(),
    ...{ invoice: money(), ours: money(), difference: money() },
    ...figures,
    statements: z.array(z.object({ id: z.string(), name: z.string() })),
    booked: z
      .object({
        amount: money(),
        by: z.string(),
        at: time(),
        note: z.string().nullable(),
        reason: z.string().nullable().describe('Why it was closed with open questions.'),
      })
      .describe('The difference as it was accepted.'),
    proof: z
      .object({ key: z.string(), signature: z.string() })
      .describe('The signature covers the JSON text of all fields before it.'),
  })
  .meta({ id: 'ChannelMonthClosing' })

export const channelMonth = z
  .object({
    channel: column(z.string()),
    month,
    state: column(z.enum(['open', 'closed'])),
    currency: z.string(),
    invoice: column(money().nullable()).describe('What the upstream billed; null: no statement.'),
    ours: column(money().nullable()).describe('What the work should cost.'),
    difference: column(money().nullable()),
    ...figures,
    statements: z
      .array(z.object({ id: z.string(), name: z.string(), from: time(), to: time() }))
      .describe('Those that count: of statements about the same day, the newest.'),
    late_lines: column(count(), 'late').describe('Lines that were billed after it was closed.'),
    late_amount: money(),
    closing: closing.nullable(),
    is_signed: z
      .boolean()
      .nullable()
      .describe('Whether the closing is as this gateway signed it; null: open.'),
  })
  .meta({ id: 'ChannelMonth' })
export const channelMonthList = pageOf(channelMonth, 'ChannelMonthList')
export const channelMonthQuery = z.object({ channel: channelField, ...pageFields })

const oneChannel = z.string().min(1, 'is missing').describe('Name of a channel.')

export const monthLine = z
  .object({
    reason: column(reason),
    upstream_id: column(z.string().nullable()),
    day: column(z.string().nullable()),
    at: time().nullable(),
    model: column(z.string().nullable()),
    quantity: column(z.number().nullable()),
    our_quantity: column(z.number().nullable()),
    amount: column(money()).describe('What the upstream billed.'),
    our_amount: column(money()).describe('What the work should cost.'),
    difference: column(money()),
    currency: z.string(),
    billed_in: z.string().nullable().describe('Its currency, where it was converted.'),
    statement: z.string(),
    line: z.int().describe('Of the statement; the first of those that are compared together.'),
    request_ids: z
      .array(z.string())
      .describe(
        'Requests or tasks. Of lines by day and model, at most 1,000, in dispute files only.',
      ),
  })
  .meta({ id: 'MonthLine' })
export const monthLineList = pageOf(monthLine, 'MonthLineList')
export const monthLineQuery = z.object({
  channel: oneChannel,
  reason: query.choice(lineReasons, 'What explains the line.'),
  unexplained: query.flag('Only lines whose reason is not explained.'),
  late: query.flag('Only lines that were billed after the month was closed.'),
  ...pageFields,
})
export const disputeQuery = z.object({ channel: oneChannel, ...pageFields })

export const closeChannelRequest = z
  .strictObject({
    channel: oneChannel,
    note: z.string().trim().min(1).max(500).optional(),
    reason: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .optional()
      .describe('Needed while lines are unexplained or days have no statement.'),
  })
  .meta({ id: 'CloseChannelMonth' })

const steps = ['statements', 'differences', 'bills_closed', 'bills_numbered', 'bills_sent'] as const

export const monthChecklist = z
  .object({
    month,
    is_over: z.boolean(),
    steps: z.array(
      z.object({
        step: column(z.enum(steps)),
        state: column(z.enum(['done', 'open'])),
        done: column(count()),
        total: column(count()),
      }),
    ),
  })
  .meta({ id: 'MonthChecklist' })

export type ChannelMonthView = z.infer<typeof channelMonth>
export type MonthLineView = z.infer<typeof monthLine>
export type MonthChecklist = z.infer<typeof monthChecklist>
