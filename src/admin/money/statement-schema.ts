// Statements of upstreams and how their lines compare, as the admin API tells of them.
import { z } from 'zod'
import { lossReasons } from '../../contract/ledger.ts'
import { channelField, column, count, money, pageFields, pageOf, query, time } from '../schema.ts'

const lineOutcomes = [
  'matched',
  'amount_differs',
  'quantity_differs',
  'loss',
  'upstream_only',
  'gateway_only',
] as const

const outcomeSum = z.object({
  lines: count(),
  quantity: z.number(),
  amount: money(),
  our_quantity: z.number(),
  our_amount: money(),
})

const header = z.string().exactOptional()

export const statement = z
  .object({
    id: column(z.string()),
    at: column(time()),
    channel: column(z.string()),
    name: column(z.string()),
    from: time(),
    to: time(),
    currency: z.string(),
    lines: column(count()),
    map: z
      .object({
        ...{ id: header, at: header, model: header },
        ...{ quantity: header, amount: header, currency: header },
      })
      .describe('Which column of the table is which.'),
    cost_factor: money().nullable(),
    tolerance: money().nullable(),
    outcomes: z.object({
      matched: outcomeSum,
      amount_differs: outcomeSum,
      quantity_differs: outcomeSum,
      loss: outcomeSum,
      upstream_only: outcomeSum,
      gateway_only: outcomeSum,
    }),
  })
  .meta({ id: 'Statement' })
export const statementList = pageOf(statement, 'StatementList')

export const importedStatement = z
  .object({ ...statement.shape, warnings: z.array(z.string()) })
  .meta({ id: 'ImportedStatement' })

export const statementLine = z
  .object({
    line: column(z.int()),
    outcome: column(z.enum(lineOutcomes)),
    at: column(time().nullable()),
    model: column(z.string().nullable()),
    upstream_id: column(z.string().nullable()),
    quantity: column(z.number().nullable()),
    our_quantity: column(z.number().nullable()),
    amount: column(money().nullable()),
    our_amount: column(money().nullable()),
    currency: z.string(),
    ref: z.string().nullable(),
    loss: column(z.enum(lossReasons).nullable(), 'why'),
  })
  .meta({ id: 'StatementLine' })
export const statementLineList = pageOf(statementLine, 'StatementLineList')

export const statementQuery = z.object({ channel: channelField, ...pageFields })
const outcome = query.choice(lineOutcomes, 'How the line compares.')
const mismatched = query.flag('Only lines that did not match.')
export const lineQuery = z.object({ outcome, mismatched, ...pageFields })

type Statement = z.infer<typeof statement>
/** A statement that was just imported may have warnings. */
export type ImportedStatement = Statement & Partial<z.infer<typeof importedStatement>>
export type StatementLine = z.infer<typeof statementLine>
export type Outcome = (typeof lineOutcomes)[number]
export type OutcomeSum = z.infer<typeof outcomeSum>
