// Proof, alerts, health, settings, backup and exports as documents tell of them.
import { checks } from '../../billing/proof/audit-findings.ts'
import { exportFormats, exportKinds } from '../../engine/books/exports/source.ts'
import { answered, inQuery, type Operation } from '../../http/operation.ts'
import {
  anything,
  bytes,
  flag,
  list,
  named,
  number,
  object,
  open,
  orNull,
  record,
  text,
  time,
  whole,
  word,
} from '../../http/schema.ts'
import { resolution } from '../system/alerts.ts'
import { exportRequest } from '../system/exports.ts'
import {
  accountParameter,
  adminOperation,
  bodyOf,
  deleted,
  idOf,
  pageOf,
  pageParameters,
  schemaOf,
  spanParameters,
} from './shared.ts'

const check = word(Object.keys(checks))

const audit = named(
  'Audit',
  object({
    ok: flag(),
    accounts: whole(0),
    entries: whole(0),
    receipts: whole(0),
    seals: whole(0),
    problems: list(
      object({
        check,
        'account?': text(),
        'account_id?': text(),
        'entry?': whole(),
        'number?': whole(),
        'ref?': text(),
        problem: text(),
      }),
    ),
    checks: list(object({ check, proves: list(text()), problems: whole(0) })),
    took_ms: number(0),
  }),
)

const change = named(
  'AuditRow',
  object({
    id: text(),
    at: time(),
    actor: text(),
    action: text(),
    subject: text(),
    address: orNull(text('Where it was asked from; unknown of older rows.')),
    request_id: orNull(text()),
    before: anything('As it was.'),
    after: anything('As it became.'),
  }),
)

const alert = named(
  'Alert',
  object({
    id: text(),
    kind: text(),
    subject: text(),
    message: text(),
    since: time(),
    last: time(),
    times: whole(1),
    resolved_at: orNull(time()),
  }),
)

const health = named(
  'Health',
  object(
    {
      version: text(),
      started_at: time(),
      gateway: text(),
      gateways: list(object({ id: text(), started_at: time() })),
      store: object({
        engine: word(['sqlite', 'postgres']),
        healthy: flag(),
        schema: whole(0),
        version: orNull(text()),
        bytes: orNull(number(0)),
      }),
      disk: orNull(object({ free_bytes: number(0), total_bytes: number(0) })),
      jobs: list(object({ name: text(), waiting: whole(0), late_ms: number(0) })),
      log_lines: object({ warn: whole(0), error: whole(0) }),
      complaints: list(
        object({
          at: time(),
          level: word(['warn', 'error']),
          message: text(),
          fields: record(anything()),
        }),
      ),
      calls_running: whole(0),
      draining: flag(),
      poller: object({ polls: whole(0), lag_p50_ms: anything(), lag_p99_ms: anything() }),
      memory: object({ rss_bytes: whole(0), heap_bytes: whole(0) }),
      event_loop_delay_ms: object({ mean: orNull(number(0)), p99: orNull(number(0)) }),
      load: number(0),
    },
    open,
  ),
)

const settings = named(
  'Settings',
  object(
    {
      public_url: text(),
      region: text(),
      currency: text(),
      limits: record(anything()),
      engine_limits: record(anything()),
      tasks: record(anything()),
      downloads: record(anything()),
      media: flag(),
      callbacks: text(),
      retention: object({ request_log_days: number(0), results_days: orNull(number(0)) }),
      yaml: object({ file: text(), effective: text() }),
      file: object(
        Object.fromEntries(
          ['accounts', 'tokens', 'channels', 'models', 'prices'].map((name) => [
            name,
            list(record(anything())),
          ]),
        ),
      ),
    },
    open,
  ),
)

const diagnostics = named(
  'Diagnostics',
  object({
    made_at: time(),
    version: text(),
    machine: record(anything()),
    health,
    counts: record(whole(0)),
    alerts: list(record(anything())),
    settings,
    metrics: text('As `/metrics` has them.'),
  }),
)

const job = named(
  'Export',
  object({
    id: text(),
    kind: word(exportKinds),
    format: word(exportFormats),
    filters: record(text()),
    state: word(['waiting', 'running', 'done', 'failed']),
    rows: whole(0),
    rows_total: orNull(whole(0)),
    bytes: whole(0),
    limit_reached: flag(),
    error: orNull(text()),
    created_by: text(),
    created_at: time(),
    finished_at: orNull(time()),
    expires_at: time(),
  }),
)

const exportId = idOf('an export')

const exportOperations: readonly Operation[] = [
  adminOperation({
    id: 'createExport',
    method: 'post',
    path: '/exports',
    tag: 'Exports',
    summary: 'Have a list written into a file',
    body: bodyOf(named('ExportRequest', schemaOf(exportRequest)), {
      requests: { kind: 'requests', format: 'csv' },
      ledger: { kind: 'ledger', format: 'jsonl', filters: { account: 'acme' } },
    }),
    answers: [answered(job, 'The export; look at it until it is `done`.', { status: 202 })],
    refusals: ['conflict', 'not_found'],
  }),
  adminOperation({
    id: 'listExports',
    method: 'get',
    path: '/exports',
    tag: 'Exports',
    summary: 'List exports, newest first',
    parameters: pageParameters,
    answers: [answered(named('ExportList', pageOf(job)), 'A page of them.')],
  }),
  adminOperation({
    id: 'getExport',
    method: 'get',
    path: '/exports/{id}',
    tag: 'Exports',
    summary: 'Look at an export',
    parameters: [exportId],
    answers: [answered(job, 'The export.')],
  }),
  adminOperation({
    id: 'downloadExport',
    method: 'get',
    path: '/exports/{id}/file',
    tag: 'Exports',
    summary: 'Download a finished export',
    parameters: [exportId],
    answers: [
      {
        status: 200,
        description: 'The file.',
        headers: ['content-disposition'],
        content: { 'text/csv': { schema: text() }, 'application/x-ndjson': { schema: text() } },
      },
    ],
    refusals: ['conflict'],
  }),
  adminOperation({
    id: 'deleteExport',
    method: 'delete',
    path: '/exports/{id}',
    tag: 'Exports',
    summary: 'Remove an export',
    parameters: [exportId],
    answers: [deleted],
  }),
]

export const operateOperations: readonly Operation[] = [
  adminOperation({
    id: 'auditBooks',
    method: 'post',
    path: '/audit',
    tag: 'Proof',
    summary: 'Prove the books, all of them or those of one account',
    parameters: [accountParameter],
    answers: [answered(audit, 'Each check, and each difference with its place.')],
  }),
  adminOperation({
    id: 'listChanges',
    method: 'get',
    path: '/audit-log',
    tag: 'Proof',
    summary: 'Who changed what, newest first',
    parameters: [
      inQuery('actor', text('Who it was: a person, or `admin`.')),
      inQuery('action', text('Such as `channel.update`.')),
      inQuery('subject', text('Id or name of what was changed.')),
      ...spanParameters,
      ...pageParameters,
    ],
    answers: [answered(named('AuditRowList', pageOf(change)), 'A page of them.')],
  }),
  adminOperation({
    id: 'listAlerts',
    method: 'get',
    path: '/alerts',
    tag: 'Proof',
    summary: 'What an administrator must look at',
    parameters: [
      inQuery('kind', text('Such as `books`.')),
      inQuery('all', word(['true', 'false'], 'With those that are resolved.')),
      ...pageParameters,
    ],
    answers: [answered(named('AlertList', pageOf(alert)), 'A page of them.')],
  }),
  adminOperation({
    id: 'resolveAlert',
    method: 'post',
    path: '/alerts/{id}/resolve',
    tag: 'Proof',
    summary: 'Say that an alert was looked at',
    parameters: [idOf('an alert')],
    body: bodyOf(named('AlertResolution', schemaOf(resolution)), { force: { force: true } }, false),
    answers: [answered(alert, 'The alert.')],
    refusals: ['conflict'],
  }),
  adminOperation({
    id: 'getHealth',
    method: 'get',
    path: '/health',
    tag: 'Gateway',
    summary: 'How this gateway is doing',
    answers: [answered(health, 'Figures of this moment.')],
  }),
  adminOperation({
    id: 'downloadDiagnostics',
    method: 'get',
    path: '/diagnostics',
    tag: 'Gateway',
    summary: 'All that helps to find out what is wrong, without secrets, as a file',
    answers: [
      {
        status: 200,
        description: 'Health, settings, alerts, metrics and the last complaints.',
        headers: ['content-disposition'],
        content: { 'application/json': { schema: diagnostics } },
      },
    ],
  }),
  adminOperation({
    id: 'getSettings',
    method: 'get',
    path: '/settings',
    tag: 'Gateway',
    summary: 'What this gateway runs with, without secrets',
    answers: [answered(settings, 'The settings.')],
  }),
  adminOperation({
    id: 'downloadBackup',
    method: 'get',
    path: '/backup',
    tag: 'Gateway',
    summary: 'The whole database at one moment, as a file',
    answers: [
      {
        status: 200,
        description: 'The backup.',
        headers: ['content-disposition'],
        content: { 'application/gzip': { schema: bytes() } },
      },
    ],
  }),
  ...exportOperations,
]
