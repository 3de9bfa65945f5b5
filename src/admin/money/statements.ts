// Statements of upstreams: taken in as tables, compared with our own books, shown and handed out
// again. How they are compared is billing's business.
import { clearLines, importStatement } from '../../billing/reconciliation/import-statement.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { BaseDeps, Declares, Offers } from '../../engine/base-deps.ts'
import { answerHeaders, type RequestContext } from '../../http/request-context.ts'
import { text } from '../../http/schema.ts'
import { csvRow } from '../../lib/text/csv.ts'
import type { PageQuery } from '../../store/index.ts'
import {
  dropStatement,
  findStatement,
  type LineOutcome,
  linesAfter,
  listStatements,
  type Statement,
} from '../../store/ledger/statements.ts'
import { logHorizonMs } from '../../store/log/requests.ts'
import { numberCursor, pageOf } from '../../store/sql/cursor.ts'
import { auditChange, listOf, notFound, time } from '../answers.ts'
import { forFinance } from '../permission.ts'
import { type Ask, adminRoute, type View } from '../route.ts'
import { deleted } from '../schema.ts'
import { BrokenTable, readChunks } from './read-table.ts'
import { importQuery, statementOptions } from './statement-options.ts'
import {
  exportQuery,
  importedStatement,
  lineQuery,
  statementLineList,
  statementList,
  statementQuery,
  statement as statementSchema,
} from './statement-schema.ts'
import { view, viewLines } from './statement-view.ts'

/** One at a time: an import is much work for the store, and not urgent. */
type StatementDeps = BaseDeps & Declares & Offers

const taking = new WeakSet<object>()

async function takeIn({ engine, x, query }: Ask<{ query: typeof importQuery }>) {
  const options = statementOptions(query)
  if (options instanceof Refusal) return options
  if (taking.has(engine)) {
    return refuse('conflict', 'another statement is being taken in; try again when it is done')
  }
  const chunks = readChunks(x)
  if (chunks instanceof Refusal) return chunks
  taking.add(engine)
  x.connection.keepOpen()
  try {
    const made = await importStatement(engine.store, options, chunks, engine.clock.nowMs)
    if ('problem' in made) {
      return refuse('invalid_request', `line ${made.line}: ${made.problem}`, { param: 'body' })
    }
    const { id, name, channel } = made
    const change = { action: 'statement.import', subject: id, after: { name, channel } }
    await engine.store.tx((tx) => auditChange(tx, x, change))
    return { ...view(engine, made), warnings: await warningsFor(engine, made) }
  } catch (error) {
    if (error instanceof BrokenTable) return error.refusal
    throw error
  } finally {
    taking.delete(engine)
  }
}

/** What may explain a surprising result. */
async function warningsFor(engine: StatementDeps, statement: Statement): Promise<string[]> {
  const { channel, fromMs } = statement
  const warnings: string[] = []
  if (!engine.catalog.channels.some(({ name }) => name === channel)) {
    warnings.push(`no channel is called '${channel}' now`)
  }
  const horizonMs = await logHorizonMs(engine.store.read)
  if (fromMs < horizonMs) {
    warnings.push(`the request log reaches back to ${time(horizonMs)} only`)
  }
  return warnings
}

async function linesOf(
  engine: StatementDeps,
  { id }: Statement,
  { limit, cursor }: PageQuery,
  outcome: LineOutcome | undefined,
): Promise<View<typeof statementLineList>> {
  const after = cursor === undefined ? 0 : numberCursor(cursor)
  const lines = await linesAfter(engine.store.read, id, { after, limit: limit + 1, outcome })
  const found = pageOf(
    await viewLines(engine, lines),
    limit,
    ({ line }) => line,
    (each) => each,
  )
  return listOf(found, (each) => each)
}

const exportColumns = [
  'line',
  'outcome',
  'at',
  'model',
  'upstream_id',
  'quantity',
  'our_quantity',
  'amount',
  'our_amount',
  'currency',
  'ref',
  'loss',
] as const
const linesPerPage = 1_000

function asTable(
  engine: StatementDeps,
  x: RequestContext,
  statement: Statement,
  outcome: LineOutcome | undefined,
): Response {
  const { currency } = engine.declared.file
  const encoder = new TextEncoder()
  let after: number | undefined
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const head = after === undefined ? `\uFEFF${csvRow(exportColumns)}` : ''
      const range = { after: after ?? 0, limit: linesPerPage, outcome }
      const lines = await linesAfter(engine.store.read, statement.id, range)
      const rows = (await viewLines(engine, lines)).map((line) => {
        const row: Record<string, unknown> = { ...line, currency }
        return csvRow(exportColumns.map((column) => row[column]))
      })
      after = lines.at(-1)?.number ?? after ?? 0
      controller.enqueue(encoder.encode(head + rows.join('')))
      if (lines.length < linesPerPage) controller.close()
    },
  })
  const headers = answerHeaders(x, 'text/csv; charset=utf-8')
  const file = `${statement.name}-reconciled.csv`.replace(/[^\w.-]/g, '_')
  headers['content-disposition'] = `attachment; filename="${file}"`
  return new Response(body, { headers })
}

const tag = 'Statements'
const param = 'Id of a statement.'

const find = ({ engine, id }: Ask) => findStatement(engine.store.read, id)

async function remove(ask: Ask) {
  const found = await find(ask)
  if (found === undefined) return notFound('statement', ask.id)
  const { id, name, channel } = found
  const { store } = ask.engine
  const change = { action: 'statement.delete', subject: id, before: { name, channel } }
  await store.tx(async (tx) => {
    if (await dropStatement(tx, id)) await auditChange(tx, ask.x, change)
  })
  await clearLines(store, id)
  return { id, deleted: true as const }
}

export const statementRoutes = [
  adminRoute({
    id: 'importStatement',
    method: 'post',
    path: '/statements',
    permission: forFinance,
    tag,
    summary: 'Import what an upstream bills, and compare it',
    query: importQuery,
    request: {
      'text/csv': {
        schema: text(),
        examples: {
          lines: 'Request ID,Time,Model,Tokens,Cost\nup-1,2026-11-15T10:00:00Z,txta-plus,25,0.01\n',
        },
      },
    },
    answer: importedStatement,
    status: 201,
    returns: 'The statement and how its lines compare.',
    refusals: ['conflict'],
    handle: takeIn,
  }),
  adminRoute({
    id: 'listStatements',
    method: 'get',
    path: '/statements',
    permission: forFinance,
    tag,
    summary: 'List statements, newest first',
    query: statementQuery,
    answer: statementList,
    returns: 'A page of statements.',
    async handle({ engine, query, page }) {
      const found = await listStatements(engine.store.read, { ...page, channel: query.channel })
      return listOf(found, (each) => view(engine, each))
    },
  }),
  adminRoute({
    id: 'getStatement',
    method: 'get',
    path: '/statements/:id',
    permission: forFinance,
    tag,
    summary: 'Get a statement',
    param,
    answer: statementSchema,
    returns: 'The statement.',
    async handle(ask) {
      const found = await find(ask)
      return found === undefined ? notFound('statement', ask.id) : view(ask.engine, found)
    },
  }),
  adminRoute({
    id: 'listStatementLines',
    method: 'get',
    path: '/statements/:id/lines',
    permission: forFinance,
    tag,
    summary: 'The lines of a statement, each with its outcome',
    param,
    query: lineQuery,
    answer: statementLineList,
    returns: 'A page of lines.',
    async handle(ask) {
      const found = await find(ask)
      if (found === undefined) return notFound('statement', ask.id)
      return linesOf(ask.engine, found, ask.page, ask.query.outcome)
    },
  }),
  adminRoute({
    id: 'exportStatement',
    method: 'get',
    path: '/statements/:id/export',
    permission: forFinance,
    tag,
    summary: 'The lines of a statement as a table',
    param,
    query: exportQuery,
    files: { 'text/csv': text() },
    headers: ['content-disposition'],
    returns: 'The table.',
    async handle(ask) {
      const found = await find(ask)
      if (found === undefined) return notFound('statement', ask.id)
      return asTable(ask.engine, ask.x, found, ask.query.outcome)
    },
  }),
  adminRoute({
    id: 'deleteStatement',
    method: 'delete',
    path: '/statements/:id',
    permission: forFinance,
    tag,
    summary: 'Delete a statement',
    param,
    answer: deleted,
    returns: 'It is gone.',
    handle: remove,
  }),
]
