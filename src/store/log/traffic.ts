// Traffic figures from the sums of complete log segments and from the rows after them, so that they
// are current. Never rescans the log.
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { maxTotalNames, otherNames } from '../../contract/totals.ts'
import {
  addTraffic,
  isInRange,
  noTraffic,
  type StatusRange,
  type TrafficSums,
} from '../../contract/traffic.ts'
import type { Schema } from '../schema.ts'
import { readLogGroups, readRetries, slotMs } from './groups.ts'
import { dayMs, hourMs, sumColumns, TrafficTally, tookColumns } from './traffic-sums.ts'
import { watermarkKey } from './watermark.ts'

export const timeSpans = { slot: slotMs, hour: hourMs, day: dayMs } as const
export type TimeDimension = keyof typeof timeSpans

const sharedColumns = {
  model: 'model',
  channel: 'channel',
  interface: 'interface',
  status: 'status',
  error_code: 'error_code',
} as const
const accountColumns = {
  account: 'account_id',
  status: 'status',
  error_code: 'error_code',
} as const
type Column = keyof typeof sharedColumns | keyof typeof accountColumns

export interface TrafficQuery {
  /** Rounded outwards to whole slots; per-account figures to whole hours. */
  fromMs: number
  untilMs: number
  time?: TimeDimension | undefined
  /** By account, status and error_code, or by all but the account. */
  by: readonly Column[]
  where: Partial<Record<Exclude<Column, 'status'>, string>> & { status?: StatusRange }
}

export interface TrafficSum extends TrafficSums {
  slotMs?: number
  /** In the order of `by`. */
  values: (string | number)[]
}

interface Traffic {
  sums: TrafficSum[]
  /** The requested range, rounded. */
  fromMs: number
  untilMs: number
  /** Most recent requests that were too many to count here. */
  uncounted: number
}

const maxTailRows = 100_000
const tailRowsAtOnce = 4_096
const tailSharedMs = 500
export const maxGroups = 20_000
/** Beyond it, models or accounts with the fewest requests are summed as one. */
const maxNamedGroups = 3_000
/** Groups of one name and time, by the other dimensions. */
const groupsPerName = 4

export const isOfAccounts = ({ by, where }: Pick<TrafficQuery, 'by' | 'where'>): boolean =>
  by.includes('account') || where.account !== undefined

/** Undefined when there would be more than `maxGroups` of them, and not because of names. */
export async function sumTraffic(
  db: Kysely<Schema>,
  query: TrafficQuery,
): Promise<Traffic | undefined> {
  const named = namedIn(query)
  if (named === undefined) return within(await sumGroups(db, query))
  // One more than that, and the sums are not whole.
  const limit = maxNamedGroups + 1
  const all = await sumGroups(db, { ...query, limit })
  if (isBounded(all, query, named)) return all
  const few = await sumGroups(db, { ...query, limit, kept: await busiest(db, query, named) })
  if (isBounded(few, query, named)) return few
  return within(await sumGroups(db, { ...query, kept: [] }))
}

const within = (traffic: Traffic): Traffic | undefined =>
  traffic.sums.length > maxGroups ? undefined : traffic

/** The dimension with any number of names. */
const namedIn = ({ by }: TrafficQuery): 'model' | 'account' | undefined =>
  (['model', 'account'] as const).find((name) => by.includes(name))

function isBounded({ sums }: Traffic, { by }: TrafficQuery, named: Column): boolean {
  if (sums.length > maxNamedGroups) return false
  if (sums.length <= maxTotalNames) return true
  const at = by.indexOf(named)
  return new Set(sums.map(({ values }) => values[at])).size <= maxTotalNames + 1
}

/** The names with the most requests, as many as fit. */
async function busiest(
  db: Kysely<Schema>,
  query: TrafficQuery,
  named: 'model' | 'account',
): Promise<string[]> {
  const { fromMs, untilMs, time } = query
  const times = time === undefined ? 1 : Math.ceil((untilMs - fromMs) / timeSpans[time]) + 1
  const others = query.by.length > 1 ? groupsPerName : 1
  const fitting = Math.floor(maxNamedGroups / times / others) - 1
  const limit = Math.min(maxTotalNames, fitting)
  if (limit <= 0) return []
  const spanMs = untilMs - fromMs > 2 * dayMs ? dayMs : hourMs
  const column = sql.raw(named === 'model' ? 'model' : 'account_id')
  const { rows } = await sql<{ name: string }>`
    SELECT ${column} AS name FROM ${sql.raw(isOfAccounts(query) ? 'account_traffic' : 'traffic')}
    WHERE span_ms = ${sql.lit(spanMs)} AND slot_ms > ${fromMs - spanMs} AND slot_ms < ${untilMs}
    GROUP BY ${column} ORDER BY sum(requests) DESC, ${column} LIMIT ${limit}`.execute(db)
  return rows.map(({ name }) => name)
}

interface FoldedQuery extends TrafficQuery {
  /** Names that are told apart; others are one. Absent: all are. */
  kept?: readonly string[]
  /** Of each part of the time. */
  limit?: number
}

async function sumGroups(db: Kysely<Schema>, query: FoldedQuery): Promise<Traffic> {
  const ofAccounts = isOfAccounts(query)
  const smallest = ofAccounts ? hourMs : slotMs
  const fromMs = Math.floor(query.fromMs / smallest) * smallest
  const untilMs = Math.ceil(query.untilMs / smallest) * smallest
  const asked = { ...query, fromMs, untilMs }
  const groups = new Groups()
  const { rows } = await kept(asked, ofAccounts).execute(db)
  for (const row of rows) {
    if (row.requests !== null) groups.add(row.slot_ms, valuesOf(row, query), sumsOf(row))
  }
  const uncounted = await addTail(db, asked, Number(rows[0]!.indexed ?? '0'), groups)
  return { sums: groups.all(), fromMs, untilMs, uncounted }
}

interface KeptRow extends Record<string, unknown> {
  slot_ms: number | null
  /** Null when there are no rows, and the row only carries the watermark. */
  requests: number | null
  indexed: string | null
}

/** One statement, hence one moment: the sums, and the log row up to which they go. */
function kept(query: FoldedQuery, ofAccounts: boolean) {
  const spans = query.time === undefined ? [dayMs, hourMs, slotMs] : spansFor(query.time)
  const parts = slicesOf(query.fromMs, query.untilMs, ofAccounts ? spans.slice(0, -1) : spans)
  const sums = parts.map((piece) => sumOfPiece(query, piece, ofAccounts))
  const nothing = sql`SELECT NULL AS requests`
  const all = sums.length === 0 ? nothing : sql.join(sums, sql` UNION ALL `)
  return sql<KeptRow>`
    SELECT m.indexed, p.* FROM (
      SELECT (SELECT value FROM meta WHERE key = ${watermarkKey}) AS indexed
    ) AS m LEFT JOIN (${all}) AS p ON 1 = 1`
}

const spansFor = (time: TimeDimension): number[] =>
  [dayMs, hourMs, slotMs].filter((span) => span <= timeSpans[time])

interface Slice {
  spanMs: number
  fromMs: number
  untilMs: number
}

/** The largest spans that fit, and smaller ones at the ends. */
function slicesOf(fromMs: number, untilMs: number, spans: readonly number[]): Slice[] {
  const [spanMs, ...smaller] = spans
  if (spanMs === undefined || fromMs >= untilMs) return []
  const first = Math.ceil(fromMs / spanMs) * spanMs
  const last = Math.floor(untilMs / spanMs) * spanMs
  if (first >= last) return slicesOf(fromMs, untilMs, smaller)
  const whole = { spanMs, fromMs: first, untilMs: last }
  return [...slicesOf(fromMs, first, smaller), whole, ...slicesOf(last, untilMs, smaller)]
}

function sumOfPiece(query: FoldedQuery, piece: Slice, ofAccounts: boolean): RawBuilder<unknown> {
  const columns: Readonly<Record<string, string>> = ofAccounts ? accountColumns : sharedColumns
  const { time } = query
  const slot = time === undefined ? sql`0` : sql`slot_ms - slot_ms % ${sql.lit(timeSpans[time])}`
  const named = namedIn(query)
  const by = query.by.map((name, i) => {
    const column =
      name === named && query.kept !== undefined
        ? folded(columns[name]!, query.kept)
        : sql.raw(columns[name]!)
    return sql`, ${column} AS ${sql.raw(`value_${i}`)}`
  })
  const groups = [sql`1`, ...query.by.map((_, i) => sql.lit(i + 2))]
  const added = [...sumColumns, ...(ofAccounts ? [] : tookColumns)].map((name) =>
    sql.raw(`, CAST(sum(${name}) AS bigint) AS ${name}`),
  )
  const conditions = Object.entries(query.where).map(([name, value]) =>
    typeof value === 'string'
      ? sql`AND ${sql.ref(columns[name]!)} = ${value}`
      : sql`AND ${sql.ref(columns[name]!)} BETWEEN ${value.from} AND ${value.to}`,
  )
  return sql`SELECT * FROM (
    SELECT ${slot} AS slot_ms ${sql.join(by, sql``)} ${sql.join(added, sql``)}
    FROM ${sql.raw(ofAccounts ? 'account_traffic' : 'traffic')}
    WHERE span_ms = ${sql.lit(piece.spanMs)} AND slot_ms >= ${sql.lit(piece.fromMs)}
      AND slot_ms < ${sql.lit(piece.untilMs)} ${sql.join(conditions, sql` `)}
    GROUP BY ${sql.join(groups)} LIMIT ${sql.lit(query.limit ?? maxGroups + 1)}) AS piece`
}

const folded = (column: string, kept: readonly string[]): RawBuilder<unknown> =>
  kept.length === 0
    ? sql`CAST(${otherNames} AS text)`
    : sql`CASE WHEN ${sql.raw(column)} IN (${sql.join(kept)}) THEN ${sql.raw(column)}
        ELSE ${otherNames} END`

const valuesOf = (row: KeptRow, { by }: TrafficQuery): (string | number)[] =>
  by.map((_, i) => row[`value_${i}`] as string | number)

const sumsOf = (row: KeptRow): TrafficSums => ({
  requests: row.requests ?? 0,
  retries: row['retries'] as number,
  totalMs: row['total_ms'] as number,
  firstBytes: row['first_bytes'] as number,
  firstByteMs: row['first_byte_ms'] as number,
  chargeNanos: row['charge_nanos'] as bigint,
  inputTokens: row['input_tokens'] as number,
  cacheReadTokens: row['cache_read_tokens'] as number,
  took: tookColumns.map((name) => (row[name] as number | undefined) ?? 0),
})

const isWanted = ({ where }: TrafficQuery, cells: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(where).every(([name, value]) =>
    typeof value === 'string' ? cells[name] === value : isInRange(Number(cells[name]), value),
  )

/** Returns how many were too many to count. */
async function addTail(
  db: Kysely<Schema>,
  query: FoldedQuery,
  indexed: number,
  groups: Groups,
): Promise<number> {
  const { rows } = await sql<{ seq: number }>`
    SELECT seq FROM requests ORDER BY seq DESC LIMIT 1`.execute(db)
  const newest = rows[0]?.seq ?? 0
  const last = Math.min(newest, indexed + maxTailRows)
  const tally = await sharedTail(db, indexed + 1, last)
  const tallied = isOfAccounts(query) ? tally.accounts() : tally.shared()
  const named = namedIn(query)
  const names = query.kept && new Set<string | number>(query.kept)
  const shown = (name: Column, value: string | number) =>
    name === named && names?.has(value) === false ? otherNames : value
  for (const { key, sums } of tallied) {
    if (key.slotMs < query.fromMs || key.slotMs >= query.untilMs) continue
    const cells = cellsOf(key)
    if (!isWanted(query, cells)) continue
    const slot = query.time === undefined ? 0 : key.slotMs - (key.slotMs % timeSpans[query.time])
    groups.add(
      slot,
      query.by.map((name) => shown(name, cells[name]!)),
      sums,
    )
  }
  return newest - last
}

interface Tail {
  from: number
  upTo: number
  tally: Promise<TrafficTally>
}
const tails = new WeakMap<Kysely<Schema>, Tail>()

/**
 * A page asks for a dozen figures at once, and each begins with the same rows. Only for a moment: on
 * PostgreSQL a row below the newest may still be committed.
 */
function sharedTail(db: Kysely<Schema>, from: number, upTo: number): Promise<TrafficTally> {
  const known = tails.get(db)
  if (known?.from === from && known.upTo === upTo) return known.tally
  const tail = { from, upTo, tally: tallyTail(db, from, upTo) }
  tails.set(db, tail)
  const forget = () => {
    if (tails.get(db) === tail) tails.delete(db)
  }
  tail.tally.then(() => setTimeout(forget, tailSharedMs).unref(), forget)
  return tail.tally
}

async function tallyTail(db: Kysely<Schema>, from: number, upTo: number): Promise<TrafficTally> {
  const tally = new TrafficTally()
  for (let first = from; first <= upTo; first += tailRowsAtOnce) {
    const last = Math.min(upTo, first + tailRowsAtOnce - 1)
    const retries = await readRetries(db, first, last)
    for (const group of await readLogGroups(db, first, last, retries)) tally.add(group)
  }
  return tally
}

type TalliedKey = Partial<Record<'accountId' | 'model' | 'channel' | 'interface', string>> & {
  status: number
  errorCode: string
}

const cellsOf = (key: TalliedKey): Readonly<Record<string, string | number>> => ({
  account: key.accountId ?? '',
  model: key.model ?? '',
  channel: key.channel ?? '',
  interface: key.interface ?? '',
  status: key.status,
  error_code: key.errorCode,
})

/** Sums by time and values, in their order. */
class Groups {
  readonly #sums = new Map<string, TrafficSum>()

  get size(): number {
    return this.#sums.size
  }

  add(slot: number | null, values: (string | number)[], sums: TrafficSums): void {
    const name = JSON.stringify([slot, values])
    let found = this.#sums.get(name)
    if (found === undefined) {
      found = { slotMs: slot ?? 0, values, ...noTraffic() }
      this.#sums.set(name, found)
    }
    addTraffic(found, sums)
  }

  all(): TrafficSum[] {
    return [...this.#sums.values()].sort((a, b) => order(a) - order(b) || byValues(a, b))
  }
}

const order = ({ slotMs: at = 0 }: TrafficSum): number => at

function byValues(a: TrafficSum, b: TrafficSum): number {
  for (const [i, value] of a.values.entries()) {
    if (value !== b.values[i]) return value < b.values[i]! ? -1 : 1
  }
  return 0
}
