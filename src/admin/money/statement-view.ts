// Statements of upstreams and their lines as the admin API shows them.
import type { StatementBody } from '../../billing/reconciliation/import-statement.ts'
import type { BaseDeps, Declares } from '../../engine/base-deps.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { lossesOf } from '../../store/ledger/losses.ts'
import type { JudgedLine, LineOutcome, Statement } from '../../store/ledger/statements.ts'
import { time } from '../answers.ts'
import type { View } from '../route.ts'
import type { statementLine, statement as statementSchema } from './statement-schema.ts'

export function view({ declared }: Declares, statement: Statement): View<typeof statementSchema> {
  const body = JSON.parse(statement.body) as StatementBody
  const sumOf = (outcome: LineOutcome) => {
    const sum = body.outcomes[outcome]!
    return {
      lines: sum.lines,
      quantity: sum.quantity,
      amount: formatNanos(BigInt(sum.amount_nanos)),
      our_quantity: sum.our_quantity,
      our_amount: formatNanos(BigInt(sum.our_amount_nanos)),
    }
  }
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
    outcomes: {
      matched: sumOf('matched'),
      amount_differs: sumOf('amount_differs'),
      quantity_differs: sumOf('quantity_differs'),
      loss: sumOf('loss'),
      upstream_only: sumOf('upstream_only'),
      gateway_only: sumOf('gateway_only'),
    },
  }
}

/** With the reason, where a loss explains the line. */
export async function viewLines(engine: BaseDeps & Declares, lines: readonly JudgedLine[]) {
  const refs = lines.flatMap(({ outcome, ref }) => (outcome === 'loss' && ref ? [ref] : []))
  const byRef = Map.groupBy(await lossesOf(engine.store.read, refs), ({ ref }) => ref)
  return lines.map((line) => {
    const losses = line.outcome === 'loss' ? (byRef.get(line.ref ?? '') ?? []) : []
    const loss = losses.find(({ upstreamId }) => upstreamId === line.upstreamId) ?? losses[0]
    const { currency } = engine.declared.file
    return { ...lineView(line), currency, loss: loss?.reason ?? null }
  })
}

const money = (nanos: bigint | undefined) => (nanos === undefined ? null : formatNanos(nanos))

const lineView = (line: JudgedLine): Omit<View<typeof statementLine>, 'currency' | 'loss'> => ({
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
