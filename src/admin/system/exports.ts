// Lists as files: asked for here, written in the background, handed out when they are whole. Who may
// see a list may export it; whoever asked for a file, and administrators, may have it.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { z } from 'zod'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Viewer } from '../../contract/people.ts'
import { exportLimits } from '../../engine/books/exports/run-export.ts'
import {
  type ExportKind,
  exportFormats,
  exportKinds,
  readerOf,
} from '../../engine/books/exports/source.ts'
import type { Engine } from '../../engine/engine.ts'
import { answerHeaders, type Exchange } from '../../http/exchange.ts'
import { newId } from '../../lib/crypto/ids.ts'
import {
  dropExport,
  type ExportJob,
  findExport,
  insertExport,
  listExports,
  readPiece,
  weighExports,
} from '../../store/maintenance/exports.ts'
import { namesOwn, rules } from '../legacy-access.ts'
import {
  type AdminDeps,
  listOf,
  notFound,
  pageQuery,
  type Resource,
  readBody,
  recordChange,
  route,
  time,
} from '../legacy-route.ts'
import { exportFilters, exportSources } from './export-sources.ts'

/** Not finished at once, of one person; kept at once, of everybody. */
const maxUnfinished = 5
const maxJobs = 500
const maxStoredBytes = 4 * 1024 ** 3
const maxFilter = 500

export const exportRequest = z.strictObject({
  kind: z.enum(exportKinds),
  format: z.enum(exportFormats).default('csv'),
  filters: z.record(z.string(), z.string().min(1).max(maxFilter)).default({}),
})
type Input = z.infer<typeof exportRequest>

/** The call that shows the same, whose rule is the rule of its export. */
const shownBy: Readonly<Record<ExportKind, string>> = {
  requests: 'GET /requests',
  tasks: 'GET /tasks',
  ledger: 'GET /accounts/:id/ledger',
  bill_lines: 'GET /bills',
  audit_log: 'GET /audit-log',
}

export const exportJobs: Resource = (app, deps) => {
  const { store } = deps.engine

  app.post(
    '/exports',
    route((_, x) => begin(deps, x), 202),
  )

  app.get(
    '/exports',
    route(async ({ query }, x) => {
      const page = pageQuery(query, deps)
      if (page instanceof Refusal) return page
      const found = await listExports(store.read, { ...page, personId: personOf(x.viewer!) })
      const items = found.items.filter((job) => mayHave(x.viewer!, job))
      return listOf({ ...found, items }, view)
    }),
  )

  const one = (work: (job: ExportJob, x: Exchange) => Promise<object> | object) =>
    route(async ({ id }, x) => {
      const job = await findExport(store.read, id)
      return job === undefined || !mayHave(x.viewer!, job) ? notFound('export', id) : work(job, x)
    })

  app.get('/exports/:id', one(view))
  app.get(
    '/exports/:id/file',
    one((job, x) =>
      job.state === 'done'
        ? answerFile(deps.engine, x, job)
        : refuse('conflict', `the export is ${job.state}; its file is there when it is done`),
    ),
  )
  app.delete(
    '/exports/:id',
    one(async ({ id, kind }, x) => {
      const change = { action: 'export.delete', subject: id, before: { kind } }
      await store.tx(async (tx) => {
        if (await dropExport(tx, id)) await recordChange(tx, x, change)
      })
      deps.engine.exporter?.tidySoon()
      return { id, deleted: true }
    }),
  )
}

/** Undefined for those who see everybody's. */
const personOf = ({ role, personId }: Viewer): string | undefined =>
  role === 'administrator' ? undefined : (personId ?? '')

const maySee = ({ role }: Viewer, kind: string): boolean =>
  role === 'administrator' || rules[shownBy[kind as ExportKind]]?.roles.includes(role) === true

/** By what they may see today: a role may have changed since the export was made. */
function mayHave(viewer: Viewer, job: ExportJob): boolean {
  if (viewer.role === 'administrator') return true
  const isOwn = viewer.personId !== undefined && viewer.personId === job.personId
  const isNarrow = viewer.role !== 'member' || viewer.accountId === job.accountId
  return isOwn && isNarrow && maySee(viewer, job.kind)
}

async function begin(deps: AdminDeps, x: Exchange): Promise<object> {
  const { engine, limits } = deps
  const viewer = x.viewer!
  const body = await readBody(x, deps, exportRequest)
  if (body instanceof Refusal) return body
  if (!maySee(viewer, body.kind)) {
    return refuse('not_permitted', `a ${viewer.role} may not export this`, { param: 'kind' })
  }
  const filters = await filtersFor(engine, viewer, body)
  if (filters instanceof Refusal) return filters
  // Opened once for what it says about the filters.
  const source = await exportSources(limits)[body.kind](engine, filters, readerOf(viewer))
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
    await recordChange(tx, x, { action: 'export.create', subject: id, after })
  })
  engine.exporter?.wake()
  return view((await findExport(engine.store.read, id))!)
}

/** Members get their own account's; what is not theirs is not there for them. */
async function filtersFor(
  engine: Engine,
  viewer: Viewer,
  { kind, filters }: Input,
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

async function tooMuch(engine: Engine, viewer: Viewer): Promise<Refusal | undefined> {
  const { jobs, storedBytes, unfinished } = await weighExports(engine.store.read, viewer.personId)
  if (unfinished >= maxUnfinished) {
    return refuse('conflict', `${unfinished} exports are not finished yet; wait for one of them`)
  }
  return jobs >= maxJobs || storedBytes >= maxStoredBytes
    ? refuse('conflict', 'too many exports are kept; delete some, or wait a day')
    : undefined
}

const timeOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : time(ms))

const view = (job: ExportJob) => ({
  id: job.id,
  kind: job.kind,
  format: job.format,
  filters: job.filters,
  state: job.state,
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
function answerFile({ store }: Engine, x: Exchange, job: ExportJob): Response {
  let next = 0
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (next === job.pieces) return controller.close()
      const piece = await readPiece(store.read, job.id, next++)
      if (piece === undefined) return controller.error(new Error('the export was deleted'))
      controller.enqueue(await unpack(piece))
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
