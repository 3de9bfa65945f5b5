// The lists that can be exported, each read by the same pages that the list itself shows, and as
// tables: which columns a row has there.

import type { z } from 'zod'
import { BillTable, rangeOf } from '../../billing/bills/bill-table.ts'
import { billColumns, billView } from '../../contract/bills/bill-line.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { BooksDeps } from '../../engine/books/bill-deps.ts'
import type {
  ExportFilters,
  ExportKind,
  ExportPage,
  ExportReader,
  ExportSource,
  ExportSources,
} from '../../engine/books/exports/source.ts'
import { monthAt, monthBounds } from '../../lib/text/month.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { listAudit } from '../../store/catalog/audit-log.ts'
import type { Tx } from '../../store/index.ts'
import type { Stretch } from '../../store/ledger/bills.ts'
import { listEntries } from '../../store/ledger/entries.ts'
import { listRequests, logHorizonMs, type RequestFilter } from '../../store/log/requests.ts'
import { sumTraffic } from '../../store/log/traffic.ts'
import { countRows } from '../../store/sql/count-rows.ts'
import { listTaskRows } from '../../store/tasks/tasks.ts'
import { listOf, notFound } from '../answers.ts'
import { memberRow, staffFieldsOf } from '../member-view.ts'
import { entryView } from '../money/accounts.ts'
import { auditLogQuery } from '../money/audit-schema.ts'
import { auditFilterOf, auditView } from '../money/audits.ts'
import { checkQuery } from '../route.ts'
import { listedTask, taskQuery } from '../tasks/task-schema.ts'
import { type TaskViewDeps, viewPage } from '../tasks/task-view.ts'
import { filterOf } from '../tasks/tasks.ts'
import { request, requestQuery } from '../traffic/request-schema.ts'
import * as requests from '../traffic/requests.ts'

type SourceDeps = BooksDeps & TaskViewDeps

/** Filters each list takes. */
export const exportFilters: Readonly<Record<ExportKind, readonly string[]>> = {
  requests: ['account', 'token', 'model', 'channel', 'status', 'error_code', 'from', 'to'],
  tasks: ['account', 'model', 'state', 'channel', 'interface'],
  ledger: ['account'],
  bill_lines: ['account', 'month'],
  audit_log: ['actor', 'action', 'subject', 'from', 'to'],
}

const pageRows = 200
/** More rows than this are not counted before they are read. */
const maxCounted = 100_000

export const exportSources = (engine: SourceDeps): ExportSources => ({
  requests: async (filters, reader) => readBy(reader, request, await openRequests(engine, filters)),
  tasks: async (filters, reader) => readBy(reader, listedTask, await openTasks(engine, filters)),
  ledger: (filters) => openLedger(engine, filters),
  bill_lines: (filters) => openBillLines(engine, filters),
  audit_log: (filters) => openAuditLog(engine, filters),
})

const reading = (filters: ExportFilters) => (name: string) => filters[name]

type Columns = Readonly<Record<string, (row: never) => unknown>>

interface ListPage {
  items: readonly object[]
  next_cursor: string | null
}

/** A list of the admin API, from page to page. */
function listSource(
  columns: Columns,
  readPage: (cursor: string | undefined) => Promise<ListPage>,
  total: ExportSource['total'],
): ExportSource {
  const values = Object.values(columns)
  return {
    columns: Object.keys(columns),
    cells: (row) => values.map((value) => value(row as never)),
    async *pages(place) {
      let cursor = place
      do {
        const { items, next_cursor } = await readPage(cursor)
        cursor = next_cursor ?? undefined
        yield { rows: items, next: cursor }
      } while (cursor !== undefined)
    },
    total,
  }
}

/** For members without the columns and fields that are the staff's. */
function readBy(
  reader: ExportReader,
  row: z.ZodType,
  source: ExportSource | Refusal,
): ExportSource | Refusal {
  if (reader === 'staff' || source instanceof Refusal) return source
  const hidden = staffFieldsOf(row)
  const kept = source.columns.map((name) => !hidden.has(name))
  return {
    ...source,
    columns: source.columns.filter((_, i) => kept[i]),
    cells: (row) => source.cells(row).filter((_, i) => kept[i]),
    async *pages(place, rowsBefore) {
      for await (const { rows, ...rest } of source.pages(place, rowsBefore)) {
        yield { ...rest, rows: rows.map((each) => memberRow(each, hidden)) }
      }
    },
  }
}

type Row = Readonly<Record<string, unknown>>
const field = (name: string) => (row: Row) => row[name]
const fields = (...names: string[]) => Object.fromEntries(names.map((name) => [name, field(name)]))
/** Of a part that may be missing. */
const within = (part: string, name: string) => (row: Row) => (row[part] as Row | null)?.[name]
const asJson = (name: string) => (row: Row) => {
  const value = row[name]
  return value === null || value === undefined ? undefined : JSON.stringify(value)
}

const requestColumns: Columns = {
  ...fields('request_id', 'at', 'account_id', 'account', 'token_id', 'token', 'interface', 'model'),
  ...fields('channel', 'upstream_model', 'upstream_request_id', 'status', 'error_code'),
  error: asText('error'),
  ...fields('ending', 'stream', 'charge', 'loss', 'estimated', 'price_id'),
  input_tokens: within('usage', 'input_tokens'),
  output_tokens: within('usage', 'output_tokens'),
  cache_read_tokens: within('usage', 'cache_read_tokens'),
  cache_write_tokens: within('usage', 'cache_write_tokens'),
  ...fields('first_byte_ms', 'total_ms', 'operation', 'task_id', 'replay_of'),
  // A member's rows have none.
  attempts: (row: { attempts?: readonly unknown[] }) => row.attempts?.length,
}

/** What is a text or says one. */
function asText(name: string) {
  return (row: Row) => {
    const value = row[name]
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
  }
}

async function openRequests(engine: BooksDeps, filters: ExportFilters) {
  const query = checkQuery(requestQuery, reading(filters))
  if (query instanceof Refusal) return query
  const account = await namedAccount(engine.store.read, filters)
  if (account instanceof Refusal) return account
  const filter = requests.filterOf(query, account?.id, { limit: pageRows })
  const page = async (cursor: string | undefined) =>
    requests.viewPage(engine, await listRequests(engine.store.read, { ...filter, cursor }))
  return listSource(requestColumns, page, () => countRequests(engine, filter, filters))
}

const summed = ['account', 'model', 'channel', 'status', 'error_code', 'from', 'to']

/** From what they add up to by time; of an account that is not known by model or channel. */
async function countRequests(engine: BooksDeps, filter: RequestFilter, filters: ExportFilters) {
  const { model, channel, errorCode, accountId, status } = filter
  const ofOne = model !== undefined || channel !== undefined
  if (accountId !== undefined && ofOne) return undefined
  if (Object.keys(filters).some((name) => !summed.includes(name))) return undefined
  const { read } = engine.store
  const fromMs = Math.max(filter.fromMs ?? 0, await logHorizonMs(read))
  const untilMs = Math.min(filter.toMs ?? Number.MAX_SAFE_INTEGER, engine.clock.nowMs())
  if (untilMs <= fromMs) return undefined
  const where = {
    ...(accountId !== undefined && { account: accountId }),
    ...(model !== undefined && { model }),
    ...(channel !== undefined && { channel }),
    ...(status !== undefined && { status }),
    ...(errorCode !== undefined && { error_code: errorCode }),
  }
  const found = await sumTraffic(read, { fromMs, untilMs, by: [], where })
  return found && found.uncounted + found.sums.reduce((sum, { requests: n }) => sum + n, 0)
}

const taskColumns: Columns = {
  ...fields('id', 'kind', 'account_id', 'account', 'token_id', 'token', 'request_id', 'interface'),
  ...fields('model', 'upstream_model', 'channel', 'upstream_id', 'state', 'progress', 'hold'),
  ...fields('charge', 'price_id', 'created_at', 'started_at', 'finished_at', 'checks'),
  prompt: within('request', 'prompt'),
  output_seconds: within('usage', 'output_seconds'),
  video_tokens: within('usage', 'video_tokens'),
  error_code: within('error', 'code'),
  error: within('error', 'message'),
  files: (row: { files: readonly { url: string }[] }) => row.files.map(({ url }) => url).join(' '),
}

async function openTasks(engine: TaskViewDeps, filters: ExportFilters) {
  const query = checkQuery(taskQuery, reading(filters))
  if (query instanceof Refusal) return query
  const account = await namedAccount(engine.store.read, filters)
  if (account instanceof Refusal) return account
  const filter = filterOf(query, account?.id, { limit: pageRows })
  if (filter instanceof Refusal) return filter
  const { accountId: account_id, model, state, channel, interface: made } = filter
  const values = { account_id, model, state, channel, interface: made }
  return listSource(
    taskColumns,
    async (cursor) =>
      viewPage(engine, await listTaskRows(engine.store.read, { ...filter, cursor })),
    () => countRows(engine.store.read, 'tasks', values, maxCounted),
  )
}

const entryColumns: Columns = {
  ...fields('id', 'at', 'kind', 'amount', 'request_id', 'task_id', 'model', 'unit', 'tier'),
  ...fields('quantity', 'price_id', 'estimated', 'note'),
}

async function openLedger({ store: { read } }: BooksDeps, filters: ExportFilters) {
  const account = await accountIn(read, filters)
  if (account instanceof Refusal) return account
  return listSource(
    entryColumns,
    async (cursor) =>
      listOf(await listEntries(read, account.id, { limit: pageRows, cursor }), entryView),
    () => countRows(read, 'ledger', { account_id: account.id }, maxCounted),
  )
}

const missing = (param: string, message: string): Refusal =>
  refuse('invalid_request', `'${param}' ${message}`, { param: `filters.${param}` })

async function accountIn(read: Tx, { account: name = '' }: ExportFilters) {
  if (name === '') return missing('account', 'is missing')
  return (await findAccount(read, name)) ?? notFound('account', name)
}

const namedAccount = async (read: Tx, { account }: ExportFilters) =>
  account === undefined
    ? undefined
    : ((await findAccount(read, account)) ?? notFound('account', account))

async function openAuditLog({ store: { read } }: BooksDeps, filters: ExportFilters) {
  const query = checkQuery(auditLogQuery, reading(filters))
  if (query instanceof Refusal) return query
  const filter = { limit: pageRows, ...auditFilterOf(query) }
  const { actor, action, subject, fromMs, toMs } = filter
  const isCounted = fromMs === undefined && toMs === undefined
  return listSource(
    {
      ...fields('id', 'at', 'actor', 'action', 'subject', 'address', 'request_id'),
      before: asJson('before'),
      after: asJson('after'),
    },
    async (cursor) => listOf(await listAudit(read, { ...filter, cursor }), auditView),
    async () =>
      isCounted ? countRows(read, 'audit_log', { actor, action, subject }, maxCounted) : undefined,
  )
}

/** As `GET /bills?format=csv` gives them: signed at the end, and proven without the gateway. */
async function openBillLines(engine: BooksDeps, filters: ExportFilters) {
  const { read } = engine.store
  const account = await accountIn(read, filters)
  if (account instanceof Refusal) return account
  const running = monthAt(engine.clock.nowMs())
  const { month = running } = filters
  const bounds = monthBounds(month)
  if (bounds === undefined) return missing('month', 'must be of the form 2026-11')
  if (month > running) return missing('month', `is ${month}, which has not begun`)
  const stretch: Stretch = { accountId: account.id, ...bounds }
  const source: ExportSource = {
    columns: billColumns,
    cells: (row) => billColumns.map((column) => (row as Row)[column]),
    pages: (_, rowsBefore) => billPages(engine, stretch, rowsBefore),
    total: async () => (await rangeOf(read, stretch)).lines,
  }
  return source
}

/**
 * The signature at the end is over every line, so a gateway that takes over reads them all again; the lines
 * that were given out before are left out. One page is held back, to know which is the last.
 */
async function* billPages(
  engine: BooksDeps,
  stretch: Stretch,
  rowsBefore: number,
): AsyncGenerator<ExportPage> {
  await engine.receiptWriter.drain(stretch.accountId)
  const table = new BillTable(engine.store.read, engine.receiptWriter.keys, stretch)
  let [skipped, held] = [0, [] as object[]]
  for await (const lines of table.pages()) {
    const fresh = lines.slice(Math.max(0, rowsBefore - skipped))
    skipped += lines.length - fresh.length
    // Also while nothing new comes: the writer renews its hold on the job between pages.
    yield { rows: held, next: 'more' }
    held = fresh.map((line) => billView(line))
  }
  if (table.broken !== undefined) {
    engine.log.error('a bill is given out unsigned', {
      account_id: stretch.accountId,
      ...table.broken,
    })
  }
  yield { rows: held }
}
