// Verifies what upstreams take: of every attempt of a call that they served and told the gateway of, whether or
// not the caller paid, and of every task; and that totals and margins are the sums of it.
import { nanosOf } from '../../src/billing/bills/bill.ts'
import { sumUsage, type UsageKey, type UsageRow } from '../../src/billing/prices/usage-rows.ts'
import { formatNanos } from '../../src/lib/text/decimal.ts'
import type { Calling } from '../callers/calling.ts'
import { textInputTokens } from '../callers/text-caller.ts'
import type { Upstream, Work } from '../upstream/upstream.ts'
import { costsOf, textCosts } from '../world/prices.ts'
import { shown } from './check-commit.ts'
import { readNow } from './read-now.ts'

interface CallRow {
  request_id: string
  at_ms: number
  model: string
  channel: string | null
  cost_nanos: bigint | null
  output_tokens: number | null
  detail: string
}

interface Detail {
  estimated?: boolean
  loss?: { reason: string; quantity?: number; estimated?: boolean }[]
}

/** Of calls whose prompts are known by their requests. */
export function verifyCallCosts(
  calling: Calling,
  upstream: Upstream,
  promptOf: (requestId: string) => string | undefined,
): void {
  const { db, world } = calling.context
  const works = new Map<string, Work[]>()
  for (const work of upstream.works.values()) {
    if (work.kind === 'text' && work.isTold) {
      works.set(work.prompt, [...(works.get(work.prompt) ?? []), work])
    }
  }
  const { rows } = db.query<CallRow>(
    'SELECT request_id, at_ms, model, channel, cost_nanos, output_tokens, detail FROM requests',
  )
  for (const row of rows) {
    const prompt = promptOf(row.request_id)
    if (prompt === undefined) continue
    const right = expected(calling, row, works.get(prompt) ?? [])
    if (row.cost_nanos !== null && right.includes(row.cost_nanos)) continue
    world.addViolation(
      `${row.request_id} has cost ${row.cost_nanos}, it should be ${right.join(' or ')}: ${shown(row)}`,
    )
  }
}

/** What was told of is as it was told; else it is as much as the gateway has counted. */
function expected({ records }: Calling, row: CallRow, told: readonly Work[]): bigint[] {
  const books = { prices: records.prices.values(), costs: records.costs }
  const amounts = told.map((work) =>
    costsOf(books, work.channel!, row.model, row.at_ms, (cost) =>
      textCosts(cost, work.inputTokens, work.quantity ?? 0),
    ),
  )
  const counted = countedIn(row, told)
  if (counted !== undefined) {
    amounts.push(
      costsOf(books, row.channel!, row.model, row.at_ms, (cost) =>
        textCosts(cost, textInputTokens, counted),
      ),
    )
  }
  return amounts.reduce<bigint[]>(
    (sums, some) => sums.flatMap((sum) => some.map((nanos) => sum + nanos)),
    [0n],
  )
}

/** Output tokens of an answer without usage; undefined: there is none. */
function countedIn(
  { detail, output_tokens, channel }: CallRow,
  told: readonly Work[],
): number | undefined {
  const { estimated = false, loss = [] } = JSON.parse(detail) as Detail
  if (told.some((work) => work.channel === channel && work.quantity !== undefined)) return undefined
  if (output_tokens !== null) return estimated ? output_tokens : undefined
  const withheld = loss.find(({ reason }) => reason === 'not_delivered')
  return withheld?.quantity === undefined ? undefined : withheld.quantity - textInputTokens
}

const sum = (rows: readonly UsageRow[], name: 'cost' | 'margin'): bigint =>
  rows.reduce((all, row) => all + nanosOf(row[name]!), 0n)

const groupings: readonly UsageKey[][] = [[], ['account'], ['model', 'unit'], ['day', 'token']]

/** Charges less refunds less costs, over any grouping, from the rows themselves. */
export function verifyMargins({ context }: Calling): void {
  const { db, world } = context
  const one = (sql: string): bigint =>
    BigInt(
      db.query<{ sum: bigint | null }>(`SELECT CAST(coalesce(${sql}, 0) AS INTEGER) AS sum`)
        .rows[0]!.sum ?? 0n,
    )
  const costs =
    one('(SELECT sum(cost_nanos) FROM requests)') + one('(SELECT sum(cost_nanos) FROM tasks)')
  const charges = -one(`(SELECT sum(amount_nanos) FROM ledger WHERE kind = 'charge')`)
  const refunds = one(`(SELECT sum(amount_nanos) FROM ledger WHERE kind = 'refund')`)
  const unknown = one(
    `(SELECT count(*) FROM requests WHERE number IS NOT NULL AND cost_nanos IS NULL)
      + (SELECT count(*) FROM tasks WHERE state = 'succeeded' AND cost_nanos IS NULL)`,
  )
  const right = {
    cost: formatNanos(costs),
    margin: formatNanos(charges - refunds - costs),
    unknown: Number(unknown),
  }
  const untilMs = Date.UTC(2028, 0)
  for (const by of groupings) {
    readNow(context, async (read) => {
      const { rows } = await sumUsage(read, { fromMs: 0, untilMs, by, withCosts: true })
      const sums = {
        cost: formatNanos(sum(rows, 'cost')),
        margin: formatNanos(sum(rows, 'margin')),
        unknown: rows.reduce((count, { cost_unknown = 0 }) => count + cost_unknown, 0),
      }
      if (shown(sums) === shown(right)) return
      world.addViolation(
        `by ${by.join() || 'nothing'} the usage has ${shown(sums)}, not ${shown(right)}`,
      )
    })
  }
}
