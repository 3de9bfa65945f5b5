// The request log and the reasons of charges as the admin API tells of them.
import { z } from 'zod'
import { ownBudget } from '../../contract/answers/budget-schema.ts'
import { billColumns } from '../../contract/bills/bill-line.ts'
import { affinities, moveReasons } from '../../contract/requests.ts'
import { statusPattern } from '../../contract/traffic.ts'
import { price } from '../catalog/price-schema.ts'
import { entry } from '../money/account-schema.ts'
import {
  accountField,
  amount,
  channelField,
  column,
  interfaceName,
  marginFields,
  modelField,
  money,
  pageFields,
  pageOf,
  query,
  sortFields,
  spanFields,
  staffOnly,
  tagFields,
  tagFilters,
  time,
  tokenUsage,
} from '../schema.ts'
import { taskUsage } from '../tasks/task-schema.ts'

export const attempt = z.object({
  channel: column(z.string()),
  model: column(z.string().exactOptional()).describe('The member of a virtual model.'),
  key: column(z.int().min(1).exactOptional()),
  after_ms: column(amount()),
  ms: column(amount()),
  status: column(z.int().exactOptional()),
  error: column(z.string().exactOptional()),
  affinity: column(z.enum(affinities).exactOptional()).describe(
    'Whether it went to the channel and key that hold the prompt cache of its conversation: the conversation is new, was kept there, or was moved. Absent: there was no choice.',
  ),
  moved: column(z.enum(moveReasons).exactOptional()).describe('Why it was moved.'),
})

const finishReason = z
  .string()
  .max(40)
  .exactOptional()
  .describe(
    'Why the answer ended: `stop`, `length`, `tool_calls`, `content_filter`, or another word of the upstream. Absent: not known.',
  )

const serviceTier = z
  .string()
  .nullable()
  .describe('The service tier that it is charged by; null: the plain rates.')

const usageReported = z.unknown().describe('As the upstream reported it.')

const translationFields = {
  translation: z
    .string()
    .exactOptional()
    .describe("The caller's style and the upstream's, where they differ: `messages>chat`."),
  translation_losses: z
    .array(z.string())
    .exactOptional()
    .describe('What of the request, or of its answer (`answer.…`), was changed or left out.'),
}

const retryFields = {
  retry: z
    .int()
    .min(1)
    .exactOptional()
    .describe("Which retry it is, as the caller's client says. Absent: none, or it does not say."),
  retry_of: z
    .string()
    .exactOptional()
    .describe(
      'The request with the same body whose caller left before this retry; only where one request is asked for.',
    ),
}

export const request = z
  .object({
    at: column(time()),
    request_id: column(z.string(), 'request'),
    account_id: z.string(),
    account: column(z.string().nullable()),
    token_id: z.string(),
    token: column(z.string().nullable()),
    interface: column(interfaceName()),
    model: column(z.string()),
    served_model: z
      .string()
      .nullable()
      .describe('The model that served it, if that is not the one that was called.'),
    service_tier: serviceTier,
    channel: staffOnly(column(z.string().nullable())),
    upstream_model: staffOnly(z.string().nullable()),
    upstream_request_id: staffOnly(z.string()),
    status: column(z.int().min(100).max(599)),
    error_code: column(z.string().nullable(), 'error'),
    error: z.string().nullable(),
    ending: z.enum(['complete', 'refused', 'failed', 'caller_left', 'cut_short']),
    caller_left: z.boolean().describe('The caller left before it had the whole answer.'),
    finish_reason: finishReason,
    stream: z.boolean(),
    usage: column(
      z.union([tokenUsage, taskUsage]).nullable(),
      { title: 'in', part: 'input_tokens' },
      { title: 'out', part: 'output_tokens' },
    ),
    usage_reported: usageReported,
    estimated: z.boolean(),
    charge: column(money()),
    refunded: money().describe('What was given back of the charge.'),
    loss: staffOnly(money(), 'What the operator bears of it.'),
    ...marginFields,
    price_id: z.string().nullable(),
    first_byte_ms: amount().nullable(),
    total_ms: column(amount(), 'ms'),
    omitted_count: z
      .int()
      .exactOptional()
      .describe('Refused requests of one minute that this row stands for, itself included.'),
    operation: z.string().exactOptional(),
    task_id: z.string().exactOptional(),
    replay_of: z.string().exactOptional(),
    ...retryFields,
    ...translationFields,
    conversation_by: z
      .string()
      .exactOptional()
      .describe('The field or header that named its conversation.'),
    cache_marks: z
      .int()
      .exactOptional()
      .describe("Marks for the upstream's prompt cache that the gateway added."),
    trace_id: z.string().exactOptional(),
    ...tagFields,
    attempts: staffOnly(z.array(attempt)),
  })
  .meta({ id: 'Request' })
export const requestList = pageOf(request, 'RequestList')

const cell = z.union([z.string(), z.number(), z.null()])
const receiptCells = billColumns.filter((name) => name !== 'bill_signature')

const receipt = z.object({
  ...Object.fromEntries(receiptCells.map((name) => [name, cell])),
  sealed_by: z.unknown().describe('The seal that covers it.'),
  problem: z.string().nullable().describe('What is wrong with the receipt.'),
})

export const explanation = z
  .object({
    request_id: z.string(),
    task_id: z.string().exactOptional(),
    model: z.string(),
    served_model: z.string().nullable(),
    currency: z.string(),
    charge: money(),
    refunded: money(),
    ...marginFields,
    finish_reason: finishReason,
    ...translationFields,
    usage: z.union([tokenUsage, taskUsage]).nullable(),
    usage_reported: usageReported,
    normalisation: z.array(z.string()),
    estimated: z.boolean(),
    tier: z.string().nullable(),
    service_tier: serviceTier,
    factors: z
      .array(
        z.object({
          kind: z.enum(['hours', 'service_tier', 'geo']),
          name: z.string(),
          factor: z.string(),
        }),
      )
      .describe('What `price` was multiplied by; `steps` say it of prices of other models.'),
    price: price.nullable(),
    steps: z.array(z.string()),
    rounding: z.string().nullable(),
    entries: z.array(entry),
    receipt: receipt.nullable(),
    budgets: z.array(ownBudget).describe('Those that its token falls under, as they are now.'),
  })
  .meta({ id: 'Explanation' })

export const statusField = z
  .string()
  .regex(statusPattern, 'must be an HTTP status, a class such as 4xx or 5xx, or failed')
  .optional()
  .meta({ description: 'An HTTP status, a class such as `5xx`, or `failed`.', flag: 'STATUS' })
export const errorCodeField = query.text('A code of the table of errors.', 'CODE')

/** One request by any of its ids, or those that all filters fit. */
export const requestFilters = {
  account: accountField,
  token: query.text('Id of a token (not its secret).', 'ID'),
  model: modelField,
  channel: channelField,
  status: statusField,
  error_code: errorCodeField,
  retry: query.choice(['true'], 'Only retries of clients.'),
  ...tagFilters,
  ...spanFields,
}
export const requestQuery = z.object({
  id: query.text("Any id of a request: the gateway's or the upstream's.", 'ID'),
  request_id: query.text('The same.', 'ID'),
  upstream_request_id: query.text('The same.', 'ID'),
  ...requestFilters,
  ...sortFields(['time', 'charge', 'duration'], 'desc'),
  ...pageFields,
})

export type LoggedRequest = z.infer<typeof request>
export type Attempt = z.infer<typeof attempt>
export type TokenUsage = z.infer<typeof tokenUsage>
export type TaskUsage = z.infer<typeof taskUsage>
export type Explanation = z.infer<typeof explanation>
