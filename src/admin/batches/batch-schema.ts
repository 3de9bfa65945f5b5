// Batches as the admin API tells of them.
import { z } from 'zod'
import { batchStates } from '../../contract/batches/index.ts'
import { accountField, column, count, money, pageFields, pageOf, query, time } from '../schema.ts'

export const listedBatch = z
  .object({
    created_at: column(time(), 'created'),
    id: column(z.string(), 'batch'),
    account_id: z.string(),
    account: column(z.string().nullable()),
    token_id: z.string(),
    token: column(z.string().nullable()),
    endpoint: column(z.string()),
    state: column(z.enum(batchStates)),
    progress: column(z.number().min(0).max(100)).describe('Percent of its lines that have ended.'),
    request_counts: z.object({ total: count(), completed: count(), failed: count() }),
    charge: column(money()).describe('What its lines have cost so far.'),
    estimate: money()
      .nullable()
      .describe('What all lines cost if the rest costs as much; null: it has ended or not begun.'),
    metadata: z.record(z.string(), z.string()),
    input_file_id: z.string(),
    output_file_id: z.string().nullable(),
    error_file_id: z.string().nullable(),
    in_progress_at: time().nullable(),
    finalizing_at: time().nullable(),
    cancelling_at: time().nullable(),
    finished_at: time().nullable(),
    expires_at: time(),
  })
  .meta({ id: 'ListedBatch' })

export const shownBatch = listedBatch
  .extend({
    errors: z
      .array(
        z.object({
          code: z.string(),
          message: z.string(),
          line: z.int().nullable(),
          param: z.string().nullable(),
        }),
      )
      .describe('Why its input was not accepted.'),
  })
  .meta({ id: 'ShownBatch' })

export const batchList = pageOf(listedBatch, 'AllBatchList')

export const batchQuery = z.object({
  account: accountField,
  state: query.choice(batchStates),
  ...pageFields,
})

export type ListedBatch = z.infer<typeof listedBatch>
