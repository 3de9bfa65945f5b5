// Statements of upstreams: taken in as tables, compared with our own books, shown and handed out
// again. How they are compared is billing's business.
import {
  clearLines,
  importStatement,
  type StatementBody,
} from '../../billing/reconciliation/import-statement.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Engine } from '../../engine/engine.ts'
import { answerHeaders, type Exchange } from '../../http/exchange.ts'
import { csvRow } from '../../lib/text/csv.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { lossesOf } from '../../store/ledger/losses.ts'
import {
  dropStatement,
  findStatement,
  type JudgedLine,
  lineOutcomes,
  linesAfter,
  listStatements,
  type Statement,
} from '../../store/ledger/statements.ts'
import { logHorizonMs } from '../../store/log/requests.ts'
import { numberCursor, pageOf } from '../../store/sql/cursor.ts'
import {
  type AdminDeps,
  listOf,
  notFound,
  pageQuery,
  type Resource,
  recordChange,
  route,
  time,
} from '../legacy-route.ts'
import { BrokenTable, readPieces } from './read-table.ts'
import { statementOptionsFrom } from './statement-options.ts'

type Read = (name: string) => string | undefined

export const statements: Resource = (app, deps) => {
  const { engine } = deps
  const { store } = engine

  app.post(
    '/statements',
    route(({ query }, x) => takeIn(engine, x, query), 201),
  )

  app.get(
    '/statements',
    route(async ({ query }) => {
      const page = pageQuery(query, deps)
      if (page instanceof Refusal) return page
      const found = await listStatements(store.read, { ...page, channel: query('channel') })
      return listOf(found, (statement) => view(engine, statement))
    }),
  )

  const one = (
    work: (statement: Statement, query: Read, x: Exchange) => Promise<object> | object,
  ) =>
    route(async ({ id, query }, x) => {
      const statement = await findStatement(store.read, id)
      return statement === undefined ? notFound('statement', id) : work(statement, query, x)
    })

  app.get(
    '/statements/:id',
    one((statement) => view(engine, statement)),
  )
  app.get(
    '/statements/:id/lines',
    one((statement, query) => linesOf(deps, statement, query)),
  )
  app.get(
    '/statements/:id/export',
    one((statement, query, x) => asTable(engine, x, statement, query)),
  )
  app.delete(
    '/statements/:id',
    one(async ({ id, name, channel }, _, x) => {
      const change = { action: 'statement.delete', subject: id, before: { name, channel } }
      await store.tx(async (tx) => {
        if (await dropStatement(tx, id)) await recordChange(tx, x, change)
      })
      await clearLines(store, id)
      return { id, deleted: true }
    }),
  )
}

/** One at a time: it is much work for the store, and nobody is in a hurry. */
const taking = new WeakSet<Engine>()

async function takeIn(engine: Engine, x: Exchange, read: Read): Promise<object> {
  const input = statementOptionsFrom(read)
  if (input instanceof Refusal) return input
  if (taking.has(engine)) {
    return refuse('conflict', 'another statement is being taken in; try again when it is done')
  }
  const pieces = readPieces(x)
  if (pieces instanceof Refusal) return pieces
  taking.add(engine)
  x.connection.keepOpen()
  try {
    const made = await importStatement(engine.store, input, pieces, engine.clock.nowMs)
    if ('problem' in made) {
      return refuse('invalid_request', `line ${made.line}: ${made.problem}`, { param: 'body' })
    }
    const { id, name, channel } = made
    const change = { action: 'statement.import', subject: id, after: { name, channel } }
    await engine.store.tx((tx) => recordChange(tx, x, change))
    return { ...view(engine, made), warnings: await warningsFor(engine, made) }
  } catch (error) {
    if (error instanceof BrokenTable) return error.refusal
    throw error
  } finally {
    taking.delete(engine)
  }
}

/** What may explain a surprising result. */
async function warningsFor(engine: Engine, statement: Statement): Promise<string[]> {
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

function view({ declared }: Engine, statement: Statement) {
  const body = JSON.parse(statement.body) as StatementBody
  const outcomes = lineOutcomes.map((outcome) => {
    const sum = body.outcomes[outcome]!
    return [
      outcome,
      {
        lines: sum.lines,
        quantity: sum.quantity,
        amount: formatNanos(BigInt(sum.amount_nanos)),
        our_quantity: sum.our_quantity,
        our_amount: formatNanos(BigInt(sum.our_amount_nanos)),
      },
    ] as const
  })
  const share = (nanos: string | undefined) =>
    nanos === undefined ? null : formatNanos(BigInt(nanos))
  return {
    id: statement.id,
    at: time(statement.atMs),
    channel: statement.channel,
    name: statement.name,
    from: time(statement.fromMs),
    to: time(statement.untilMs),
    currency: declared.file.currency,
    lines: body.lines,
    map: body.map,
    cost_factor: share(body.cost_factor),
    tolerance: share(body.tolerance),
    outcomes: Object.fromEntries(outcomes),
  }
}

function outcomeIn(read: Read): string | undefined | Refusal {
  const outcome = read('outcome')
  if (outcome === undefined || lineOutcomes.some((known) => known === outcome)) return outcome
  const message = `'outcome' must be one of: ${lineOutcomes.join(', ')}`
  return refuse('invalid_request', message, { param: 'outcome' })
}

async function linesOf(deps: AdminDeps, { id }: Statement, read: Read): Promise<object> {
  const page = pageQuery(read, deps)
  if (page instanceof Refusal) return page
  const outcome = outcomeIn(read)
  if (outcome instanceof Refusal) return outcome
  const { limit, cursor } = page
  const after = cursor === undefined ? 0 : numberCursor(cursor)
  const db = deps.engine.store.read
  const lines = await linesAfter(db, id, { after, limit: limit + 1, outcome })
  const found = pageOf(
    await shown(deps.engine, lines),
    limit,
    ({ line }) => line,
    (each) => each,
  )
  return listOf(found, (each) => each)
}

/** With the reason, where a loss explains the line. */
async function shown(engine: Engine, lines: readonly JudgedLine[]) {
  const refs = lines.flatMap(({ outcome, ref }) => (outcome === 'loss' && ref ? [ref] : []))
  const byRef = Map.groupBy(await lossesOf(engine.store.read, refs), ({ ref }) => ref)
  return lines.map((line) => {
    const losses = line.outcome === 'loss' ? (byRef.get(line.ref ?? '') ?? []) : []
    const loss = losses.find(({ upstreamId }) => upstreamId === line.upstreamId) ?? losses[0]
    return { ...lineView(line), loss: loss?.reason ?? null }
  })
}

const money = (nanos: bigint | undefined) => (nanos === undefined ? null : formatNanos(nanos))

const lineView = (line: JudgedLine) => ({
  line: line.number,
  outcome: line.outcome,
  at: line.atMs === undefined ? null : time(line.atMs),
  model: line.model ?? null,
  upstream_id: line.upstreamId ?? null,
  quantity: line.quantity ?? null,
  amount: money(line.amountNanos),
  our_quantity: line.ourQuantity ?? null,
  our_amount: money(line.ourAmountNanos),
  ref: line.ref ?? null,
})

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

function asTable(engine: Engine, x: Exchange, statement: Statement, read: Read): object {
  const outcome = outcomeIn(read)
  if (outcome instanceof Refusal) return outcome
  const { currency } = engine.declared.file
  const encoder = new TextEncoder()
  let after: number | undefined
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const head = after === undefined ? `\uFEFF${csvRow(exportColumns)}` : ''
      const input = { after: after ?? 0, limit: linesPerPage, outcome }
      const lines = await linesAfter(engine.store.read, statement.id, input)
      const rows = (await shown(engine, lines)).map((line) => {
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
