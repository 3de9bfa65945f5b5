// Statements of upstreams: taken in as tables, compared with our own books, shown and handed out
// again. How they are compared is billing's business.
import { clearLines, importStatement } from '../../billing/reconciliation/import-statement.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { BaseDeps, Declares, Offers } from '../../engine/base-deps.ts'
import { text } from '../../http/schema.ts'
import { type PageQuery, Rollback } from '../../store/index.ts'
import { listChannelMonths } from '../../store/ledger/channel-months.ts'
import {
  dropStatement,
  findStatement,
  type LineOutcome,
  linesAfter,
  listStatements,
  type Statement,
} from '../../store/ledger/statements.ts'
import { logHorizonMs } from '../../store/log/watermark.ts'
import { numberCursor, pageOf } from '../../store/sql/cursor.ts'
import { auditChange, listOf, time } from '../answers.ts'
import { forFinance } from '../permission.ts'
import { type Ask, routesOf, type View } from '../route.ts'
import { deleted } from '../schema.ts'
import { BrokenTable, readChunks } from './read-table.ts'
import { importQuery, statementOptions } from './statement-options.ts'
import {
  importedStatement,
  lineQuery,
  statementLineList,
  statementList,
  statementQuery,
  statement as statementSchema,
} from './statement-schema.ts'
import { view, viewLines } from './statement-view.ts'

type StatementDeps = BaseDeps & Declares & Offers

/** One at a time: an import is much work for the store, and not urgent. */
const taking = new WeakSet<object>()

async function takeIn({ engine, x, query }: Ask<{ query: typeof importQuery }>) {
  const asked = statementOptions(query)
  if (asked instanceof Refusal) return asked
  const { currency, exchange } = engine.declared.file
  const form = { ...asked.form, currencies: { own: currency, rates: exchange } }
  const options = { ...asked, form, models: modelNames(engine, asked.channel) }
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

/** By which callers and the channel's upstream know them. */
function* modelNames({ catalog }: StatementDeps, channel: string): Generator<string> {
  for (const { name } of catalog.models.values()) yield name
  const own = catalog.channels.find(({ name }) => name === channel)
  for (const name of Object.values(own?.models ?? {})) if (name !== '*') yield name
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
  filter: { outcome?: LineOutcome | undefined; mismatched: boolean },
): Promise<View<typeof statementLineList>> {
  const after = cursor === undefined ? 0 : numberCursor(cursor)
  const { outcome, mismatched: onlyMismatched } = filter
  const asked = { after, limit: limit + 1, outcome, onlyMismatched }
  const lines = await linesAfter(engine.store.read, id, asked)
  const found = pageOf(
    await viewLines(engine, lines),
    limit,
    ({ line }) => line,
    (each) => each,
  )
  return listOf(found, (each) => each)
}

async function remove({ engine: { store }, found, x }: Ask<{ found: Statement }>) {
  const { id, name, channel } = found
  const change = { action: 'statement.delete', subject: id, before: { name, channel } }
  try {
    await store.tx(async (tx) => {
      if (!(await dropStatement(tx, id))) return
      // Closing locks the statements it counts: by now it is there, or it does not count this one.
      const months = await listChannelMonths(tx, { channel })
      const closed = months.find(({ body }) => countsIn(body, id))
      if (closed !== undefined) throw new Rollback(closed.month)
      await auditChange(tx, x, change)
    })
  } catch (error) {
    if (!(error instanceof Rollback)) throw error
    return refuse(
      'conflict',
      `it counts in ${error.result} of channel '${channel}', which is closed`,
    )
  }
  await clearLines(store, id)
  return { id, deleted: true as const }
}

const countsIn = (body: string, id: string): boolean =>
  (JSON.parse(body) as { statements: readonly { id: string }[] }).statements.some(
    (each) => each.id === id,
  )

const route = routesOf({
  tag: 'Statements',
  thing: 'statement',
  permission: forFinance,
  find: ({ store }, id) => findStatement(store.read, id),
})

export const statementRoutes = [
  route('POST /statements', {
    id: 'importStatement',
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
  route('GET /statements', {
    id: 'listStatements',
    summary: 'List statements, newest first',
    query: statementQuery,
    answer: statementList,
    async handle({ engine, query, page }) {
      const found = await listStatements(engine.store.read, { ...page, channel: query.channel })
      return listOf(found, (each) => view(engine, each))
    },
  }),
  route('GET /statements/:id', {
    id: 'getStatement',
    summary: 'Get a statement',
    answer: statementSchema,
    handle: ({ engine, found }) => view(engine, found),
  }),
  route('GET /statements/:id/lines', {
    id: 'listStatementLines',
    summary: 'The lines of a statement, each with its outcome',
    query: lineQuery,
    answer: statementLineList,
    handle: ({ engine, found, page, query }) => linesOf(engine, found, page, query),
  }),
  route('DELETE /statements/:id', {
    id: 'deleteStatement',
    summary: 'Delete a statement',
    answer: deleted,
    refusals: ['conflict'],
    handle: remove,
  }),
]
