// Tasks and what is told of their ends, as documents tell of them.
import { interfaces, protocols } from '../../contract/catalog.ts'
import { taskStates } from '../../contract/task.ts'
import { stepKinds } from '../../contract/timeline.ts'
import { answered, inQuery, type Operation, workRefusals } from '../../http/operation.ts'
import {
  anything,
  bytes,
  flag,
  list,
  money,
  named,
  number,
  object,
  orNull,
  record,
  text,
  time,
  whole,
  word,
} from '../../http/schema.ts'
import { trial } from '../tasks/callbacks.ts'
import {
  accountParameter,
  adminOperation,
  bodyOf,
  created,
  idOf,
  modelParameter,
  pageOf,
  pageParameters,
  schemaOf,
  staffOnly,
} from './shared.ts'

const medium = word(['video', 'image'])

export const taskUsage = object({
  output_seconds: orNull(number(0)),
  video_tokens: orNull(whole(0)),
  'pictures?': whole(0),
})

const fields = {
  kind: medium,
  id: text(),
  'external_id?': text(),
  account_id: text(),
  account: orNull(text()),
  token_id: text(),
  token: orNull(text()),
  request_id: text(),
  interface: word(interfaces),
  model: text(),
  'upstream_model?': text(staffOnly),
  'channel?': text(staffOnly),
  'protocol?': word(protocols, staffOnly),
  'upstream_id?': orNull(text(staffOnly)),
  state: word(taskStates),
  progress: number(0, 100),
  request: object({
    prompt: text(),
    'seconds?': number(),
    'resolution?': text(),
    'ratio?': orNull(text()),
    'count?': whole(1),
    'size?': orNull(object({ width: whole(1), height: whole(1) })),
    seed: orNull(number()),
    images: whole(0),
    videos: whole(0),
    inputs: list(object({ kind: medium, role: orNull(text()), url: text() })),
  }),
  hold: money(),
  charge: money(),
  price_id: text(),
  usage: orNull(taskUsage),
  usage_reported: anything('As the upstream reported it.'),
  'media?': list(object({ kind: medium, url: text(), expires_at: orNull(time()) }), {
    description: `As the upstream keeps them. ${staffOnly}`,
  }),
  error: orNull(object({ code: text(), message: text(), 'upstream_request_id?': text() })),
  created_at: time(),
  started_at: orNull(time()),
  finished_at: orNull(time()),
  updated_at: time(),
  next_check_at: orNull(time()),
  checks: whole(0),
  expected_ms: orNull(number(0)),
  files: list(object({ kind: medium, url: text(), expires_at: time() })),
}

const listed = named('ListedTask', object(fields))

const callback = object({
  id: orNull(text()),
  url: text(),
  state: orNull(text()),
  next_at: orNull(time()),
  attempts: list(
    object({ at: time(), took_ms: number(0), status: orNull(whole()), error: orNull(text()) }),
  ),
})

const step = object({
  kind: word(stepKinds),
  at: time(),
  last_at: time(),
  times: whole(0),
  state: word(taskStates),
  progress: number(0, 100),
  note: orNull(text()),
})

const task = named('Task', object({ ...fields, callback: orNull(callback), timeline: list(step) }))

const filters = [
  accountParameter,
  modelParameter,
  inQuery('state', word(taskStates)),
  inQuery('channel', text('Name of a channel.')),
  inQuery('interface', word(interfaces)),
]

const callbackSecret = named(
  'CallbackSecret',
  object({
    account: text(),
    source: word(['account', 'file'], 'Its own, or one for all accounts from the file.'),
    secret: orNull(text('`whsec_…`; null when it is that of the file.')),
    rotated_at: orNull(time()),
    old_until: orNull(time('Until then the old secret signs along.')),
  }),
)

const summary = named(
  'TaskSummary',
  object({
    from: time(),
    slot_ms: number(1),
    counted_since: time(),
    slots: list(object({ at: time(), counts: record(whole(0)) })),
    durations: list(
      object({
        model: text(),
        tasks: whole(0),
        'p50_ms?': number(0),
        'p90_ms?': number(0),
        bars: list(object({ from_ms: number(0), to_ms: number(0), tasks: whole(0) })),
      }),
    ),
  }),
)

const tag = 'Tasks'
const id = idOf("a task, the gateway's or the upstream's")

export const taskOperations: readonly Operation[] = [
  adminOperation({
    id: 'listTasks',
    method: 'get',
    path: '/tasks',
    tag,
    summary: 'List tasks of all interfaces, newest first',
    parameters: [...filters, ...pageParameters],
    answers: [answered(named('TaskList', pageOf(listed)), 'A page of them.')],
  }),
  adminOperation({
    id: 'sumTasks',
    method: 'get',
    path: '/tasks/summary',
    tag,
    summary: 'What tasks came to over the last hours',
    parameters: [...filters, inQuery('hours', whole(1, 168, 'Default 24.')), ...pageParameters],
    answers: [answered(summary, 'Counts by time, durations by model.')],
  }),
  adminOperation({
    id: 'getTask',
    method: 'get',
    path: '/tasks/{id}',
    tag,
    summary: 'Look at a task',
    parameters: [id],
    answers: [answered(task, 'The task, with its callback and every step.')],
  }),
  adminOperation({
    id: 'cancelTask',
    method: 'post',
    path: '/tasks/{id}/cancel',
    tag,
    summary: 'Cancel a task',
    parameters: [id],
    answers: [answered(task, 'The task.')],
    refusals: [
      'task_not_found',
      'task_not_cancellable',
      'upstream_error',
      'upstream_invalid_request',
      'upstream_invalid_response',
      'upstream_permission_denied',
      'upstream_rate_limited',
      'upstream_timeout',
      'upstream_unreachable',
    ],
  }),
  adminOperation({
    id: 'showTaskInput',
    method: 'get',
    path: '/tasks/{id}/input',
    tag,
    summary: 'A picture that a task was made from, fetched where its caller has it',
    parameters: [id, inQuery('part', whole(0, undefined, 'Which of its inputs; default 0.'))],
    answers: [
      {
        status: 200,
        description: 'The picture.',
        content: Object.fromEntries(
          ['image/png', 'image/jpeg', 'image/webp', 'image/gif'].map((type) => [
            type,
            { schema: bytes() },
          ]),
        ),
      },
    ],
  }),
  adminOperation({
    id: 'repeatTask',
    method: 'post',
    path: '/tasks/{id}/again',
    tag,
    summary: 'Have the same made once more, at the expense of the same account',
    parameters: [id],
    answers: [created(task, 'The new task.')],
    refusals: [
      ...workRefusals,
      'upstream_outcome_unknown',
      'upstream_task_lost',
      'idempotency_in_flight',
      'idempotency_mismatch',
      'no_output',
    ],
  }),
  adminOperation({
    id: 'resendCallback',
    method: 'post',
    path: '/tasks/{id}/callback',
    tag,
    summary: "Tell of a task's end once more",
    parameters: [id],
    answers: [answered(task, 'The task.')],
    refusals: ['conflict'],
  }),
  adminOperation({
    id: 'getCallbackSecret',
    method: 'get',
    path: '/callback-secret',
    tag,
    summary: 'What callbacks of an account are signed with',
    description: 'The account may be left out where there is only one.',
    parameters: [{ ...accountParameter, required: true }],
    answers: [answered(callbackSecret, 'The secret, unless the operator has set one.')],
    refusals: ['not_found'],
  }),
  adminOperation({
    id: 'getAccountCallbackSecret',
    method: 'get',
    path: '/accounts/{id}/callback-secret',
    tag,
    summary: 'What callbacks of an account are signed with',
    parameters: [idOf('an account, or its name')],
    answers: [answered(callbackSecret, 'The secret, unless the operator has set one.')],
  }),
  adminOperation({
    id: 'rotateCallbackSecret',
    method: 'post',
    path: '/accounts/{id}/callback-secret/rotate',
    tag,
    summary: 'Give an account another callback secret; the old one signs along for a day',
    parameters: [idOf('an account, or its name')],
    answers: [answered(callbackSecret, 'The new secret.')],
    refusals: ['conflict'],
  }),
  adminOperation({
    id: 'tryReceiver',
    method: 'post',
    path: '/callbacks/test',
    tag,
    summary: 'Send a signed notice of nothing to an address',
    description: 'Under the rules of all callbacks, once. Answers 200 either way.',
    body: bodyOf(named('CallbackTrial', schemaOf(trial)), {
      own: { url: 'https://127.0.0.1/hook', account: 'acme' },
    }),
    answers: [
      answered(
        object({ ok: flag(), took_ms: whole(0), 'status?': whole(100, 999), 'error?': text() }),
        'What the receiver answered, or why it could not.',
      ),
    ],
    refusals: ['not_found'],
  }),
]
