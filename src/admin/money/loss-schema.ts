// Losses as the admin API tells of them.
import { z } from 'zod'
import { lossReasons } from '../../contract/ledger.ts'
import {
  accountField,
  channelField,
  column,
  count,
  modelField,
  money,
  pageFields,
  pageOf,
  query,
  spanFields,
  tagFields,
  time,
} from '../schema.ts'
import { monthField } from './bill-schema.ts'

export const loss = z
  .object({
    id: z.string(),
    at: column(time()),
    account_id: z.string(),
    reason: column(z.enum(lossReasons)),
    amount: column(money()),
    currency: z.string(),
    estimated: column(z.boolean()),
    channel: column(z.string()),
    model: column(z.string()),
    unit: z.string().nullable(),
    quantity: z.number().nullable(),
    request_id: z.string().nullable(),
    task_id: column(z.string().nullable(), 'request or task'),
    upstream_id: z.string(),
    ...tagFields,
  })
  .meta({ id: 'Loss' })
export const lossList = pageOf(loss, 'LossList')

const totals = {
  losses: column(count()),
  amount: column(money()),
  estimated: column(money(), 'of it estimated'),
}
export const lossGroups = {
  reason: z.object({ reason: column(z.string()), ...totals }),
  channel: z.object({ channel: column(z.string()), ...totals }),
  model: z.object({ model: column(z.string()), ...totals }),
}

export const lossSummary = z
  .object({
    month: z.string(),
    currency: z.string(),
    ...totals,
    by_reason: z.array(lossGroups.reason),
    by_channel: z.array(lossGroups.channel),
    by_model: z.array(lossGroups.model),
  })
  .meta({ id: 'LossSummary' })

const filters = {
  account: accountField,
  reason: query.choice(lossReasons, 'Why it was lost.'),
  channel: channelField,
  model: modelField,
  ref: query.text('Id of a request or a task.', 'ID'),
  ...spanFields,
}
export const lossQuery = z.object({ ...filters, ...pageFields })
export const lossSummaryQuery = z.object({ month: monthField, ...filters })
