// Tasks and their callbacks as the admin API tells of them.

import { z } from 'zod'
import { cancelProblems, taskStates } from '../../contract/task.ts'
import {
  accountField,
  amount,
  channelField,
  column,
  count,
  interfaceName,
  marginFields,
  modelField,
  money,
  pageFields,
  pageOf,
  protocolName,
  query,
  sortFields,
  spanFields,
  staffOnly,
  tagFields,
  tagFilters,
  time,
  tokenUsage,
} from '../schema.ts'

const medium = z.enum(['video', 'image'])
const taskKind = z.enum(['video', 'image', 'response'])
const percent = () => z.number().min(0).max(100)

export const taskUsage = z.object({
  output_seconds: amount().nullable(),
  video_tokens: count().nullable(),
  images: count().exactOptional(),
  ...tokenUsage.partial().shape,
})

const taskRequest = z.object({
  prompt: z.string(),
  seconds: z.number().exactOptional(),
  resolution: z.string().exactOptional(),
  ratio: z.string().nullable().exactOptional(),
  count: z.int().min(1).exactOptional(),
  size: z
    .object({ width: z.int().min(1), height: z.int().min(1) })
    .nullable()
    .exactOptional(),
  seed: z.number().nullable(),
  images: count(),
  videos: count(),
  inputs: z.array(
    z.object({
      kind: medium,
      role: z.enum(['first_frame', 'last_frame', 'reference']).nullable(),
      url: z.string().describe('`data:` where the caller sent the bytes themselves.'),
    }),
  ),
})

const callbackStates = ['waiting', 'delivered', 'exhausted'] as const

export const listedTask = z
  .object({
    created_at: column(time(), 'created'),
    id: column(z.string(), 'task'),
    kind: taskKind,
    external_id: z.string().exactOptional().describe("The caller's own name for it."),
    account_id: z.string(),
    account: column(z.string().nullable()),
    token_id: z.string(),
    token: z.string().nullable(),
    request_id: z.string(),
    interface: column(interfaceName()),
    model: column(z.string()),
    served_model: z
      .string()
      .nullable()
      .describe('The model that serves it, if that is not the one that was called.'),
    upstream_model: staffOnly(z.string()),
    channel: staffOnly(column(z.string())),
    protocol: staffOnly(protocolName()),
    upstream_id: staffOnly(z.string().nullable()),
    state: column(z.enum(taskStates)),
    progress: column(percent()),
    request: taskRequest,
    error: column(
      z
        .object({
          code: z.string(),
          message: z.string(),
          upstream_request_id: staffOnly(z.string()),
        })
        .nullable(),
      { part: 'code' },
    ),
    hold: column(money()).describe('Set aside when the task was created.'),
    charge: column(money()),
    refunded: money().describe('What was given back of the charge.'),
    ...marginFields,
    ...tagFields,
    price_id: z.string(),
    usage: taskUsage.nullable(),
    usage_reported: z.unknown().describe('As the upstream reported it.'),
    media: staffOnly(
      z.array(z.object({ kind: medium, url: z.string(), expires_at: time().nullable() })),
      'As the upstream keeps them.',
    ),
    started_at: time().nullable(),
    finished_at: time().nullable(),
    callback_state: z
      .enum(callbackStates)
      .nullable()
      .describe(
        'Whether its end was told to its callback address; null: there is nothing to tell.',
      ),
    cancel_problem: z
      .enum(cancelProblems)
      .nullable()
      .describe('Why it cannot be cancelled now; null: its upstream can be asked to.'),
    updated_at: time(),
    next_check_at: time().nullable(),
    checks: count(),
    unknown_since: staffOnly(
      time().nullable(),
      'Since when the upstream has not known the task; null: it knows it.',
    ),
    expected_ms: amount().nullable().describe('The median of tasks of this model.'),
    files: z
      .array(z.object({ kind: medium, url: z.string(), expires_at: time() }))
      .describe('Where a browser can open the results.'),
  })
  .meta({ id: 'ListedTask' })

const attempt = z.object({
  at: time(),
  took_ms: amount(),
  status: z.int().nullable(),
  error: z.string().nullable(),
})

const callback = z
  .object({
    id: z.string().nullable(),
    url: z.string(),
    state: z.enum(callbackStates).nullable(),
    next_at: time().nullable(),
    attempts: z.array(attempt),
  })
  .meta({ id: 'CallbackDelivery' })

const stepKinds = [
  'created',
  'sent',
  'lost',
  'found',
  'polled',
  'poll_failed',
  'not_found',
  'no_output',
  'skipped',
  'search',
  'search_failed',
  'cancel_requested',
  'ended',
  'late_poll',
  'late_poll_failed',
  'truncated',
] as const

const step = z.object({
  kind: z.enum(stepKinds),
  at: time(),
  last_at: time(),
  times: count(),
  state: z.enum(taskStates),
  progress: percent(),
  note: z.string().nullable(),
})

export const task = z
  .object({ ...listedTask.shape, callback: callback.nullable(), timeline: z.array(step) })
  .meta({ id: 'Task' })

export const taskList = pageOf(listedTask, 'TaskList')

const taskFilters = {
  account: accountField,
  model: modelField,
  state: query.choice(taskStates),
  channel: channelField,
  interface: query.text('Name of an interface.').meta({ names: 'interfaces' }),
}
export const taskQuery = z.object({
  ...taskFilters,
  callback: query.choice(
    [...callbackStates, 'failed'],
    'State of the callback of its end. `failed`: an attempt failed, and none has succeeded since.',
  ),
  ...tagFilters,
  ...spanFields,
  ...sortFields(['time', 'charge', 'duration'], 'desc'),
  ...pageFields,
})

export const summaryQuery = z.object({
  ...taskFilters,
  hours: query.whole(1, 1_440, 'Default 24.'),
  ...pageFields,
})

export const inputQuery = z.object({
  part: z
    .string()
    .meta({ type: 'integer', minimum: 0, description: 'Which of its inputs; default 0.' })
    .optional(),
})

const bar = z.object({ from_ms: amount(), to_ms: amount(), tasks: count() })

const slot = z.object({ at: time(), counts: z.partialRecord(z.enum(taskStates), count()) })

const durations = z.object({
  model: z.string(),
  tasks: count(),
  p50_ms: amount(),
  p90_ms: amount(),
  bars: z.array(bar),
})

export const taskSummary = z
  .object({
    from: time(),
    slot_ms: z.number().min(1),
    counted_since: time(),
    slots: z.array(slot),
    durations: z.array(durations),
  })
  .meta({ id: 'TaskSummary' })

export const callbackSecret = z
  .object({
    account: z.string(),
    source: z.enum(['account', 'file']).describe('Its own, or one for all accounts from the file.'),
    secret: z.string().nullable().describe('`whsec_…`; null when it is that of the file.'),
    rotated_at: time().nullable(),
    previous_valid_until: time().nullable().describe('Until then the old secret signs along.'),
  })
  .meta({ id: 'CallbackSecret' })

export const secretQuery = z.object({ account: accountField })

export const callbackTrial = z
  .strictObject({ url: z.string().min(1).max(2_048), account: z.string().optional() })
  .meta({ id: 'CallbackTrial' })

export const callbackTested = z.object({
  ok: z.boolean(),
  took_ms: count(),
  status: z.int().min(100).max(999).exactOptional(),
  error: z.string().exactOptional(),
})

export type ListedTask = z.infer<typeof listedTask>
export type Task = z.infer<typeof task>
export type Step = z.infer<typeof step>
export type CallbackAttempt = z.infer<typeof attempt>
export type TaskSummary = z.infer<typeof taskSummary>
export type TaskSlot = z.infer<typeof slot>
export type TaskDurations = z.infer<typeof durations>
export type CallbackTest = z.infer<typeof callbackTested>
export type CallbackSecret = z.infer<typeof callbackSecret>
