// Sums of requests and of charges as the admin API tells of them.
import { z } from 'zod'
import { usageRow } from '../../contract/answers/bill-schema.ts'
import {
  accountField,
  amount,
  channelField,
  count,
  modelField,
  money,
  query,
  spanFields,
  staffOnly,
  time,
} from '../schema.ts'
import { errorCodeField, statusField } from './request-schema.ts'

const name = z.string().nullable().exactOptional()
const ms = amount().nullable()

export const trafficRow = z.object({
  slot: time().exactOptional(),
  hour: time().exactOptional(),
  day: time().exactOptional(),
  account_id: name,
  model: name,
  channel: staffOnly(z.string().nullable()),
  interface: name,
  status: z.int().exactOptional(),
  error_code: name,
  requests: count(),
  retries: count().describe('Retries among them that clients say they are.'),
  failed_attempts: staffOnly(
    count(),
    'Attempts that failed at the channel, also of requests that another one served then. Only by channel, with or without hours or days.',
  ),
  charge: money(),
  input_tokens: count().describe('Whole inputs, with what was read from a cache.'),
  cache_read_tokens: count(),
  average_ms: ms,
  average_first_byte_ms: ms,
  p50_ms: ms,
  p95_ms: ms,
  p99_ms: ms,
})

export const traffic = z
  .object({
    from: time(),
    to: time(),
    items: z.array(trafficRow),
    uncounted_requests: count(),
  })
  .meta({ id: 'Traffic' })

export const trafficQuery = z.object({
  by: query.text(
    'One of slot, hour, day and any of account, model, channel, interface, status, error_code.',
  ),
  ...spanFields,
  account: accountField,
  model: modelField,
  channel: channelField,
  interface: query.text('Name of an interface.'),
  status: statusField,
  error_code: errorCodeField,
})

const usageKeys = [
  'month',
  'day',
  'hour',
  'model',
  'unit',
  'token',
  'tier',
  'price',
  'account',
  'channel',
] as const

const costedRow = usageRow
  .extend({
    channel: staffOnly(z.string().nullable(), 'That served it; null: not known.'),
    cost: staffOnly(money(), 'What upstreams take for it, as far as that is known.'),
    margin: staffOnly(money(), 'Charges less refunds less cost.'),
    cost_unknown: staffOnly(count(), 'How many charges have no known cost.'),
  })
  .meta({ id: 'CostedUsage' })

export const usage = z
  .object({
    from: time(),
    to: time(),
    by: z.array(z.string()).describe('As asked for.'),
    currency: z.string(),
    total: costedRow,
    items: z.array(costedRow),
  })
  .meta({ id: 'Usage' })

export const usageQuery = z.object({
  by: query.text(
    `Some of ${usageKeys.join(', ')}, and one of \`end_user\` or \`tag:NAME\`; default \`day\`. By \`channel\`, which members cannot ask for, days are whole, by UTC.`,
  ),
  ...spanFields,
  account: accountField,
})

export type TrafficRow = z.infer<typeof trafficRow>
export type UsageRow = z.infer<typeof costedRow>
