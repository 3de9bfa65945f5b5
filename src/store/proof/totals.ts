// Sums of money from the totals: by the hour, by the day where whole days are asked for, by tag and by channel. They
// equal the ledger at every moment. Knows no prices.
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { EntryKind } from '../../contract/ledger.ts'
import { maxTotalNames, otherNames } from '../../contract/totals.ts'
import type { Schema } from '../schema.ts'
import { dialectOf } from '../sql/dialect-of.ts'
import { dayMs, type Grain, grains, hourMs } from './grains.ts'
import { sums, unitsOfRows, unitsOfSums } from './sum-columns.ts'

const dimensions = {
  account: ['account_id', 'accountId'],
  hour: ['hour_ms', 'hourMs'],
  kind: ['kind', 'kind'],
  token: ['token_id', 'tokenId'],
  model: ['model', 'model'],
  unit: ['unit', 'unit'],
  tier: ['tier', 'tier'],
  price: ['price_id', 'priceId'],
  bucket: ['input_bucket', 'inputBucket'],
  channel: ['channel', 'channel'],
} as const

export type MoneyDimension = keyof typeof dimensions
export type TagDimension = Extract<MoneyDimension, 'account' | 'hour' | 'token' | 'model' | 'unit'>

interface Asked {
  accountId?: string | undefined
  /** Whole hours, both. */
  fromMs: number
  untilMs: number
  by: readonly MoneyDimension[]
  /** Only what was spent with this token. */
  tokenId?: string | undefined
  /** Names that are told apart; others of the dimension are summed as `otherNames`. */
  kept?: KeptNames | undefined
  /** Times are those of whole days. */
  inDays?: boolean | undefined
  /** Sums at most. */
  limit?: number | undefined
  /** Where there are many sums, names are summed as `otherNames`. */
  folded?: Folding | undefined
  /** Also what has costs or refunds and no charge. */
  withCosts?: boolean | undefined
  /**
   * In place of the dimension: the unit of each sum that is all of one. Rows are not in the order of units, and
   * sorting them would take longer than summing them.
   */
  withUnit?: boolean | undefined
  /** Of all accounts, and of at least half of the days: to list the accounts would only cost time. */
  readsAll?: boolean | undefined
}

/** Of more than `above` sums, so many names of each of these dimensions are told apart: those with the largest charges. */
interface Folding {
  among: readonly FoldedDimension[]
  names: number
  above: number
  /** Of more sums than this nothing is answered. */
  limit: number
}

export interface MoneyQuery extends Asked {
  /** Only these models and their dated versions; a handful, as every row is compared with all. */
  models?: readonly string[] | undefined
}

/** Without size classes of inputs, which days do not have. Whole hours, as of `sumMoney`. */
export type DaysQuery = Asked

export interface TagQuery extends Asked {
  by: readonly TagDimension[]
  /** Of the tag; `@` for the end user. */
  name: string
  /** Values that are told apart; others are summed as `otherNames`. */
  keptValues?: readonly string[] | undefined
}

/** Dimensions with any number of names. */
export const foldedDimensions = ['model', 'token', 'account', 'tier', 'price'] as const
export type FoldedDimension = (typeof foldedDimensions)[number]
export type KeptNames = Partial<Record<FoldedDimension, readonly string[]>>

/** The requested dimensions, '' where entries have none, and their sums. */
export interface MoneySum {
  accountId?: string
  hourMs?: number
  kind?: EntryKind
  tokenId?: string
  model?: string
  /** Undefined also where there are several. */
  unit?: string | undefined
  /** With `withUnit`: tokens are among the units. */
  hasTokens?: boolean
  tier?: string
  priceId?: string
  inputBucket?: number
  channel?: string
  entries: number
  estimated: number
  quantity: number
  /** Signed as in the ledger. */
  amountNanos: bigint
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
  costNanos: bigint
  /** Charges whose cost is not known. */
  costUnknown: number
  refundNanos: bigint
}

export interface TagSum extends MoneySum {
  value: string
}

export const sumMoney = (db: Kysely<Schema>, asked: MoneyQuery): Promise<MoneySum[]> =>
  summed(db, asked, [], [partOf(grains.hour, asked)])

/**
 * The same as `sumMoney`, of far fewer rows where whole days are asked for. By the hour, the hours of a
 * whole day stand as one at its beginning.
 */
export async function sumDays(db: Kysely<Schema>, given: DaysQuery): Promise<MoneySum[]> {
  if (given.by.includes('bucket')) throw new Error('days have no size classes')
  const isPostgres = dialectOf(db) === 'postgres'
  // PostgreSQL does not sort, and would rather have a key more than three sums.
  const asked = isPostgres ? byUnit(given) : given
  const { days, rest } = splitDays(asked)
  const readsAll = asked.accountId === undefined && (await isWorthAll(db, days))
  const ofDays = partOf(grains.day, { ...asked, ...days, readsAll })
  return summed(db, asked, [], [ofDays, ...hoursIn(asked, rest)])
}

export type Part = Pick<Asked, 'fromMs' | 'untilMs'>

/** The whole days, and the hours before and after them. */
export function splitDays({ fromMs, untilMs }: Part): { days: Part; rest: Part[] } {
  const first = Math.ceil(fromMs / dayMs) * dayMs
  const last = Math.max(first, Math.floor(untilMs / dayMs) * dayMs)
  const rest = [
    { fromMs, untilMs: Math.min(first, untilMs) },
    { fromMs: Math.max(last, fromMs), untilMs },
  ].filter((part) => part.fromMs < part.untilMs)
  return { days: { fromMs: first, untilMs: last }, rest }
}

export const hoursIn = (asked: DaysQuery, parts: readonly Part[]) =>
  parts.map((part) => partOf(grains.hour, { ...asked, ...part }))

/** Units as a dimension. */
export const byUnit = (asked: DaysQuery): DaysQuery =>
  asked.withUnit === true ? { ...asked, by: [...asked.by, 'unit'], withUnit: false } : asked

/** Half of the days from the first to the newest, or more; SQLite reads them by account anyway. */
export async function isWorthAll(db: Kysely<Schema>, { fromMs, untilMs }: Part): Promise<boolean> {
  if (fromMs === untilMs || dialectOf(db) === 'sqlite') return false
  const { rows } = await sql<{ first: number | null; last: number | null }>`
    SELECT min(day_ms) AS first, max(day_ms) AS last FROM overall_totals`.execute(db)
  const { first, last } = rows[0]!
  const [firstMs, endMs] = [first ?? 0, (last ?? 0) + dayMs]
  return 2 * (Math.min(untilMs, endMs) - Math.max(fromMs, firstMs)) >= endMs - firstMs
}

/** Tagged charges by value and dimensions. */
export function sumTags(db: Kysely<Schema>, asked: TagQuery): Promise<TagSum[]> {
  const { name, keptValues } = asked
  const value = keptValues === undefined ? sql`value` : folded('value', keptValues)
  const part = partOf(grains.tag, asked, [value], sql`AND name = ${name}`)
  return summed(db, asked, ['value'], [part]) as Promise<TagSum[]>
}

/** Sums of one table over a stretch of time, by the dimensions asked for. */
function partOf(
  grain: Grain,
  asked: MoneyQuery,
  before: readonly RawBuilder<unknown>[] = [],
  more: RawBuilder<unknown> = sql``,
): RawBuilder<unknown> {
  const columns = [...before, ...asked.by.map((dimension) => columnOf(grain, dimension, asked))]
  const time = sql.raw(grain.time)
  return sql`SELECT ${list(columns)} ${sums} ${unitsOfRows(asked)} FROM ${sql.raw(grain.table)}
    WHERE ${time} >= ${asked.fromMs} AND ${time} < ${asked.untilMs} ${ofAccounts(asked)}
      ${ofModels(asked)} ${ofToken(asked, sql`token_id`)} ${more} ${grouped(columns.length)}`
}

export function columnOf(
  grain: Grain,
  dimension: MoneyDimension,
  { kept, inDays }: Asked,
): RawBuilder<unknown> {
  const [column] = dimensions[dimension]
  if (dimension === 'hour') {
    const time = sql.raw(grain.time)
    return inDays === true
      ? sql`${time} - ${time} % ${sql.lit(dayMs)} AS hour_ms`
      : sql`${time} AS hour_ms`
  }
  const names = kept?.[dimension as FoldedDimension]
  return names === undefined ? sql.raw(column) : folded(column, names)
}

const folded = (name: string, kept: readonly string[]): RawBuilder<unknown> =>
  kept.length === 0
    ? sql`CAST(${otherNames} AS text) AS ${sql.ref(name)}`
    : sql`CASE WHEN ${sql.ref(name)} IN (${sql.join(kept)}) THEN ${sql.ref(name)}
        ELSE ${otherNames} END AS ${sql.ref(name)}`

export const list = (columns: readonly RawBuilder<unknown>[]) =>
  columns.length === 0 ? sql`` : sql`${sql.join(columns)},`

export const grouped = (count: number) =>
  count === 0
    ? sql``
    : sql`GROUP BY ${sql.raw(Array.from({ length: count }, (_, i) => i + 1).join(', '))}`

export async function summed(
  db: Kysely<Schema>,
  { fromMs, untilMs, by, withUnit, limit, folded, withCosts }: Asked,
  before: readonly string[],
  parts: readonly RawBuilder<unknown>[],
): Promise<MoneySum[]> {
  if (fromMs % hourMs !== 0 || untilMs % hourMs !== 0) throw new Error('sums are of whole hours')
  const names = [...before, ...by.map((dimension) => dimensions[dimension][0])].map((name) =>
    sql.raw(name),
  )
  const units = unitsOfSums({ withUnit })
  const [only, ...others] = parts
  const money =
    others.length === 0
      ? only!
      : sql`SELECT ${list(names)} ${sums} ${units}
          FROM (${sql.join(parts, sql` UNION ALL `)}) AS parts ${grouped(names.length)} ${isAny}`
  const found = folded === undefined ? money : foldedSums(money, { by, withUnit }, folded)
  const order = names.length === 0 ? sql`` : sql`ORDER BY ${sql.join(names)}`
  const { rows } = await sql<SumRow>`
    ${found} ${order} ${limit === undefined ? sql`` : sql`LIMIT ${limit}`}`.execute(db)
  return rows
    .filter((row) => row.entries > 0 || (withCosts === true && hasCosts(row)))
    .map((row) => shape(row, by, before))
}

/** In the database, where the sums are: handing all of them over would take longer than making them. */
function foldedSums(
  money: RawBuilder<unknown>,
  { by, withUnit }: Pick<Asked, 'by' | 'withUnit'>,
  { among, names, above, limit }: Folding,
): RawBuilder<unknown> {
  const models = by.includes('model') ? sql`count(DISTINCT model)` : sql`0`
  const charges = by.includes('kind') ? sql`WHERE kind = 'charge'` : sql``
  const columns = by.map((dimension) => {
    const column = sql.ref(dimensions[dimension][0])
    if (!among.includes(dimension as FoldedDimension)) return column
    const top = sql`SELECT ${column} FROM money ${charges} GROUP BY ${column}
      ORDER BY sum(amount_nanos), ${column} LIMIT ${names}`
    return sql`CASE WHEN (SELECT sums <= ${above} AND models <= ${maxTotalNames + 1} FROM size)
        OR ${column} IN (SELECT * FROM (${top}) AS top)
      THEN ${column} ELSE ${otherNames} END AS ${column}`
  })
  return sql`WITH money AS MATERIALIZED (${money} LIMIT ${limit + 1}),
      size AS MATERIALIZED (SELECT count(*) AS sums, ${models} AS models FROM money)
    SELECT ${list(columns)} ${sums} ${unitsOfSums({ withUnit })} FROM money
    WHERE (SELECT sums <= ${limit} FROM size) ${grouped(columns.length)}`
}

/** Sums of parts may be of nothing, where one part is taken off another. */
const isAny = sql`HAVING sum(entries) <> 0 OR sum(cost_nanos) <> 0 OR sum(refund_nanos) <> 0`

const hasCosts = ({ cost_nanos, refund_nanos }: SumRow): boolean =>
  cost_nanos !== 0n || refund_nanos !== 0n

/** Without an account it changes only the plan: keys begin with the account, so all are listed. */
export function ofAccounts({
  accountId,
  readsAll,
}: Pick<Asked, 'accountId' | 'readsAll'>): RawBuilder<unknown> {
  if (accountId !== undefined) return sql`AND account_id = ${accountId}`
  return readsAll === true ? sql`` : sql`AND account_id IN (SELECT id FROM accounts)`
}

export const ofToken = ({ tokenId }: Pick<Asked, 'tokenId'>, column: RawBuilder<unknown>) =>
  tokenId === undefined ? sql`` : sql`AND ${column} = ${tokenId}`

/** No model name contains a LIKE wildcard. */
function ofModels({ models }: MoneyQuery): RawBuilder<unknown> {
  if (models === undefined) return sql``
  const each = models.map((model) => sql`model = ${model} OR model LIKE ${`${model}-____-__-__`}`)
  return sql`AND (${sql.join(each, sql` OR `)})`
}

interface SumRow extends Record<string, unknown> {
  entries: number
  estimated: number
  quantity: number
  amount_nanos: bigint
  input_tokens: number
  output_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  cost_nanos: bigint
  cost_unknown: number
  refund_nanos: bigint
  first_unit?: string | null
  last_unit?: string | null
  tokens?: number
}

function shape(row: SumRow, by: readonly MoneyDimension[], before: readonly string[]): MoneySum {
  const named: Record<string, unknown> = {}
  for (const name of before) named[name] = row[name]
  for (const dimension of by) named[dimensions[dimension][1]] = row[dimensions[dimension][0]]
  if (row.tokens !== undefined) {
    if (row.first_unit === row.last_unit) named['unit'] = row.first_unit ?? undefined
    named['hasTokens'] = row.tokens > 0
  }
  return {
    ...named,
    entries: row.entries,
    estimated: row.estimated,
    quantity: row.quantity,
    amountNanos: row.amount_nanos,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cacheReadTokens: row.cache_read_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    costNanos: row.cost_nanos,
    costUnknown: row.cost_unknown,
    refundNanos: row.refund_nanos,
  }
}
