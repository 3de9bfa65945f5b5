// The request log, its sums and the reasons of charges as documents tell of them.

import { manyKeys } from '../../billing/prices/usage-rows.ts'
import { billColumns } from '../../contract/bill-line.ts'
import { interfaces } from '../../contract/config-schema/names.ts'
import { usageRow } from '../../http/bill-schemas.ts'
import { answered, inQuery, type Operation } from '../../http/operation.ts'
import {
  anything,
  either,
  flag,
  list,
  money,
  named,
  number,
  object,
  orNull,
  type Schema,
  text,
  time,
  whole,
  word,
} from '../../http/schema.ts'
import { schemaOf } from '../../http/zod-schema.ts'
import { taskUsage as taskUsageSchema } from '../tasks/task-schema.ts'
import { entry } from './accounts.ts'
import { price } from './prices.ts'
import {
  accountParameter,
  adminOperation,
  idOf,
  modelParameter,
  pageOf,
  pageParameters,
  spanParameters,
  staffOnly,
} from './shared.ts'

const taskUsage = schemaOf(taskUsageSchema, 'output')

const tokenUsage = object({
  input_tokens: whole(0),
  output_tokens: whole(0),
  cache_read_tokens: whole(0),
  cache_write_tokens: whole(0),
})

const request = named(
  'Request',
  object({
    request_id: text(),
    at: time(),
    account_id: text(),
    account: orNull(text()),
    token_id: text(),
    token: orNull(text()),
    interface: word(interfaces),
    model: text(),
    'channel?': orNull(text(staffOnly)),
    'upstream_model?': orNull(text(staffOnly)),
    'upstream_request_id?': text(staffOnly),
    status: whole(100, 599),
    error_code: orNull(text()),
    error: orNull(text()),
    ending: word(['complete', 'refused', 'failed', 'caller_left', 'cut_short']),
    stream: flag(),
    charge: money(),
    'loss?': money(`What the operator bears of it. ${staffOnly}`),
    usage: orNull(either(tokenUsage, taskUsage)),
    usage_reported: anything('As the upstream reported it.'),
    estimated: flag(),
    price_id: orNull(text()),
    first_byte_ms: orNull(number(0)),
    total_ms: number(0),
    'operation?': text(),
    'task_id?': text(),
    'replay_of?': text(),
    'trace_id?': text(),
    'attempts?': list(
      object({
        after_ms: number(0),
        channel: text(),
        'key?': whole(1),
        ms: number(0),
        'status?': whole(),
        'error?': text(),
      }),
      { description: staffOnly },
    ),
  }),
)

const cell = either(text(), number(), { type: 'null' })
const receipt = object({
  ...Object.fromEntries(
    billColumns
      .filter((name) => name !== 'bill_signature')
      .map((name): [string, Schema] => [name, cell]),
  ),
  sealed_by: anything('The seal that covers it.'),
  problem: orNull(text('What is wrong with the receipt.')),
})

const explained = named(
  'Explanation',
  object({
    request_id: text(),
    'task_id?': text(),
    model: text(),
    currency: text(),
    charge: money(),
    usage: orNull(either(tokenUsage, taskUsage)),
    usage_reported: anything('As the upstream reported it.'),
    normalisation: list(text()),
    estimated: flag(),
    tier: orNull(text()),
    price: orNull(price),
    steps: list(text()),
    rounding: orNull(text()),
    entries: list(entry),
    receipt: orNull(receipt),
  }),
)

const traffic = named(
  'Traffic',
  object({
    from: time(),
    to: time(),
    items: list(
      object({
        'slot?': time(),
        'hour?': time(),
        'day?': time(),
        'account_id?': orNull(text()),
        'model?': orNull(text()),
        'channel?': orNull(text()),
        'interface?': orNull(text()),
        'status?': orNull(whole()),
        'error_code?': orNull(text()),
        requests: whole(0),
        charge: money(),
        average_ms: orNull(number(0)),
        average_first_byte_ms: orNull(number(0)),
        p50_ms: orNull(number(0)),
        p95_ms: orNull(number(0)),
        p99_ms: orNull(number(0)),
      }),
    ),
    uncounted_requests: whole(0),
  }),
)

const usage = named(
  'Usage',
  object({
    from: time(),
    to: time(),
    by: list(word(manyKeys)),
    currency: text(),
    total: usageRow,
    items: list(usageRow),
  }),
)

const tag = 'Requests'
const status = inQuery('status', text('An HTTP status.', { pattern: '^\\d{3}$' }))
const errorCode = inQuery('error_code', text('A code of the table of errors.'))
const channel = inQuery('channel', text('Name of a channel.'))

export const requestOperations: readonly Operation[] = [
  adminOperation({
    id: 'listRequests',
    method: 'get',
    path: '/requests',
    tag,
    summary: 'The request log, newest first',
    parameters: [
      inQuery('id', text("Any id of a request: ours or the upstream's.")),
      inQuery('request_id', text('The same.')),
      inQuery('upstream_request_id', text('The same.')),
      accountParameter,
      inQuery('token', text('Id of a token.')),
      modelParameter,
      channel,
      status,
      errorCode,
      ...spanParameters,
      ...pageParameters,
    ],
    answers: [answered(named('RequestList', pageOf(request)), 'A page of them.')],
  }),
  adminOperation({
    id: 'getRequest',
    method: 'get',
    path: '/requests/{id}',
    tag,
    summary: 'Look at a request',
    parameters: [idOf("a request, ours or the upstream's")],
    answers: [answered(request, 'The request.')],
  }),
  adminOperation({
    id: 'explainCharge',
    method: 'get',
    path: '/explain/{id}',
    tag,
    summary: 'Why a request or a task cost what it cost',
    parameters: [idOf('a request or a task')],
    answers: [answered(explained, 'Usage, price, arithmetic, entries and receipt.')],
  }),
  adminOperation({
    id: 'getTraffic',
    method: 'get',
    path: '/traffic',
    tag,
    summary: 'How much was asked, how long it took and how it ended',
    parameters: [
      inQuery(
        'by',
        text(
          'One of slot, hour, day and any of account, model, channel, interface, status, error_code.',
        ),
      ),
      ...spanParameters,
      accountParameter,
      modelParameter,
      channel,
      inQuery('interface', text('Name of an interface.')),
      status,
      errorCode,
    ],
    answers: [answered(traffic, 'Row by row.')],
  }),
  adminOperation({
    id: 'getUsageOfAll',
    method: 'get',
    path: '/usage',
    tag,
    summary: 'What was charged, by whatever one wants to see it by',
    parameters: [
      inQuery('by', text(`Some of ${manyKeys.join(', ')}; default \`day\`.`)),
      ...spanParameters,
      accountParameter,
    ],
    answers: [answered(usage, 'Sums, row by row.')],
  }),
]
