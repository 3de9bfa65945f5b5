// Lists as files: requested here, written in the background, downloaded when they are whole. A role
// that may see a list may export it; the person who requested a file, and administrators, get it.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Viewer } from '../../contract/people.ts'
import type { BaseDeps } from '../../engine/base-deps.ts'
import { exportLimits } from '../../engine/books/exports/run-export.ts'
import { type ExportKind, readerOf } from '../../engine/books/exports/source.ts'
import { answerHeaders, type RequestContext } from '../../http/request-context.ts'
import { text } from '../../http/schema.ts'
import { newId } from '../../lib/crypto/ids.ts'
import {
  dropExport,
  type ExportJob,
  findExport,
  insertExport,
  listExports,
  readChunk,
  weighExports,
} from '../../store/maintenance/exports.ts'
import { auditChange, listOf, notFound, time, timeOrNull } from '../answers.ts'
import { listLedger } from '../money/accounts.ts'
import { listAuditLog } from '../money/audits.ts'
import { getBill } from '../money/bills.ts'
import { forAll, namesOwn } from '../permission.ts'
import { type AdminRoute, type Ask, adminRoute, type View } from '../route.ts'
import { deleted } from '../schema.ts'
import { listTasks } from '../tasks/tasks.ts'
import { listRequestLog } from '../traffic/requests.ts'
import { exportFilters, exportSources } from './export-sources.ts'
import {
  type ExportFormat,
  exportJob,
  exportList,
  exportQuery,
  exportRequest,
} from './system-schema.ts'

/** Not finished at once, of one person; kept at once, of all. */
const maxUnfinished = 5
const maxJobs = 500
const maxStoredBytes = 4 * 1024 ** 3

/** The call that shows the same, whose permission is that of its export. */
const shownBy: Readonly<Record<ExportKind, AdminRoute>> = {
  requests: listRequestLog,
  tasks: listTasks,
  ledger: listLedger,
  bill_lines: getBill,
  audit_log: listAuditLog,
}

async function listAll({ engine, page, x }: Ask) {
  const viewer = x.viewer!
  const found = await listExports(engine.store.read, { ...page, personId: personOf(viewer) })
  const items = found.items.filter((job) => mayHave(viewer, job))
  return listOf({ ...found, items }, view)
}

/** Undefined where there is none that the viewer may have. */
async function findOwn({ engine, id, x }: Ask): Promise<ExportJob | undefined> {
  const job = await findExport(engine.store.read, id)
  return job !== undefined && mayHave(x.viewer!, job) ? job : undefined
}

async function download(ask: Ask) {
  const job = await findOwn(ask)
  if (job === undefined) return notFound('export', ask.id)
  return job.state === 'done'
    ? answerFile(ask.engine, ask.x, job)
    : refuse('conflict', `the export is ${job.state}; its file is there when it is done`)
}

async function remove(ask: Ask) {
  const job = await findOwn(ask)
  if (job === undefined) return notFound('export', ask.id)
  const { id, kind } = job
  const change = { action: 'export.delete', subject: id, before: { kind } }
  await ask.engine.store.tx(async (tx) => {
    if (await dropExport(tx, id)) await auditChange(tx, ask.x, change)
  })
  ask.engine.jobs.exporter?.tidySoon()
  return { id, deleted: true as const }
}

/** Undefined for those who see the exports of all. */
const personOf = ({ role, personId }: Viewer): string | undefined =>
  role === 'administrator' ? undefined : (personId ?? '')

const maySee = ({ role }: Viewer, kind: string): boolean =>
  role === 'administrator' || shownBy[kind as ExportKind].permission.roles.includes(role)

/** By what they may see today: a role may have changed since the export was made. */
function mayHave(viewer: Viewer, job: ExportJob): boolean {
  if (viewer.role === 'administrator') return true
  const isOwn = viewer.personId !== undefined && viewer.personId === job.personId
  const isNarrow = viewer.role !== 'member' || viewer.accountId === job.accountId
  return isOwn && isNarrow && maySee(viewer, job.kind)
}

async function begin({ engine, body, x }: Ask<{ body: typeof exportRequest }>) {
  const viewer = x.viewer!
  if (!maySee(viewer, body.kind)) {
    return refuse('not_permitted', `a ${viewer.role} may not export this`, { param: 'kind' })
  }
  const filters = await filtersFor(engine, viewer, body)
  if (filters instanceof Refusal) return filters
  // Opened once for what it says about the filters.
  const source = await exportSources(engine)[body.kind](filters, readerOf(viewer))
  if (source instanceof Refusal) return source
  const full = await tooMuch(engine, viewer)
  if (full !== undefined) return full
  const id = newId('export', x.atMs)
  await engine.store.tx(async (tx) => {
    await insertExport(tx, {
      ...body,
      id,
      filters,
      createdAtMs: x.atMs,
      actor: viewer.actor,
      personId: viewer.personId,
      accountId: viewer.accountId,
      expiresAtMs: x.atMs + exportLimits.keepMs,
    })
    const after = { kind: body.kind, format: body.format, filters }
    await auditChange(tx, x, { action: 'export.create', subject: id, after })
  })
  engine.jobs.exporter?.wake()
  return view((await findExport(engine.store.read, id))!)
}

/** Members get their own account's; the rest does not exist for them. */
async function filtersFor(
  engine: BaseDeps,
  viewer: Viewer,
  { kind, filters }: Ask<{ body: typeof exportRequest }>['body'],
): Promise<Record<string, string> | Refusal> {
  const known = exportFilters[kind]
  const unknown = Object.keys(filters).find((name) => !known.includes(name))
  if (unknown !== undefined) {
    const all = known.length === 0 ? 'none' : known.join(', ')
    const message = `'filters' has '${unknown}'; of ${kind} there are: ${all}`
    return refuse('invalid_request', message, { param: `filters.${unknown}` })
  }
  if (viewer.accountId === undefined) return filters
  if (!(await namesOwn(engine, viewer, Object.entries(filters)))) {
    return refuse('not_found', "'filters' names what is not there", { param: 'filters' })
  }
  return { ...filters, account: viewer.accountId }
}

async function tooMuch(engine: BaseDeps, viewer: Viewer): Promise<Refusal | undefined> {
  const { jobs, storedBytes, unfinished } = await weighExports(engine.store.read, viewer.personId)
  if (unfinished >= maxUnfinished) {
    return refuse('conflict', `${unfinished} exports are not finished yet; wait for one of them`)
  }
  return jobs >= maxJobs || storedBytes >= maxStoredBytes
    ? refuse('conflict', 'too many exports are kept; delete some, or wait a day')
    : undefined
}

const view = (job: ExportJob): View<typeof exportJob> => ({
  id: job.id,
  kind: job.kind as ExportKind,
  format: job.format as ExportFormat,
  filters: job.filters,
  state: job.state as View<typeof exportJob>['state'],
  rows: job.rows,
  rows_total: job.totalRows ?? null,
  bytes: job.bytes,
  limit_reached: job.isCut,
  error: job.error ?? null,
  created_by: job.actor,
  created_at: time(job.createdAtMs),
  finished_at: timeOrNull(job.finishedAtMs),
  expires_at: time(job.expiresAtMs),
})

const types = { csv: 'text/csv; charset=utf-8', jsonl: 'application/x-ndjson' }
const unpack = promisify(gunzip)

/** Piece by piece: no more than one in memory. */
function answerFile({ store }: BaseDeps, x: RequestContext, job: ExportJob): Response {
  let next = 0
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (next === job.chunks) return controller.close()
      const chunk = await readChunk(store.read, job.id, next++)
      if (chunk === undefined) return controller.error(new Error('the export was deleted'))
      controller.enqueue(await unpack(chunk))
    },
  })
  const headers = answerHeaders(x, types[job.format as keyof typeof types])
  const day = time(job.createdAtMs).slice(0, 10)
  const scope = [job.filters['account'], job.filters['month'] ?? day].filter((part) => part)
  const name = [job.kind, ...scope].join('-').replace(/[^\w.-]/g, '_')
  headers['content-disposition'] = `attachment; filename="${name}.${job.format}"`
  headers['cache-control'] = 'private, no-store'
  return new Response(body, { headers })
}

const tag = 'Exports'
const param = 'Id of an export.'

export const exportRoutes = [
  adminRoute({
    id: 'createExport',
    method: 'post',
    path: '/exports',
    permission: forAll,
    tag,
    summary: 'Write a list into a file, in the background',
    body: exportRequest,
    examples: {
      requests: { kind: 'requests', format: 'csv' },
      ledger: { kind: 'ledger', format: 'jsonl', filters: { account: 'acme' } },
    },
    answer: exportJob,
    status: 202,
    returns: 'The export; poll it until it is `done`.',
    refusals: ['conflict', 'not_found'],
    handle: begin,
  }),
  adminRoute({
    id: 'listExports',
    method: 'get',
    path: '/exports',
    permission: forAll,
    tag,
    summary: 'List exports, newest first',
    query: exportQuery,
    answer: exportList,
    returns: 'A page of exports.',
    handle: listAll,
  }),
  adminRoute({
    id: 'getExport',
    method: 'get',
    path: '/exports/:id',
    permission: forAll,
    tag,
    summary: 'Get an export',
    param,
    answer: exportJob,
    returns: 'The export.',
    async handle(ask) {
      const job = await findOwn(ask)
      return job === undefined ? notFound('export', ask.id) : view(job)
    },
  }),
  adminRoute({
    id: 'downloadExport',
    method: 'get',
    path: '/exports/:id/file',
    permission: forAll,
    tag,
    summary: 'Download a finished export',
    param,
    files: { 'text/csv': text(), 'application/x-ndjson': text() },
    headers: ['content-disposition'],
    returns: 'The file.',
    refusals: ['conflict'],
    handle: download,
  }),
  adminRoute({
    id: 'deleteExport',
    method: 'delete',
    path: '/exports/:id',
    permission: forAll,
    tag,
    summary: 'Delete an export',
    param,
    answer: deleted,
    returns: 'It is gone.',
    handle: remove,
  }),
]
