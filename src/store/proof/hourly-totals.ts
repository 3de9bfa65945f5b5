// Hourly totals of entries. The receipt pass of receipts.ts adds to these rows; a sum also includes
// entries that have no receipt yet, so that it equals the ledger at every moment. Knows no prices.
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { EntryKind } from '../../contract/ledger.ts'
import { otherNames } from '../../contract/totals.ts'
import type { Schema } from '../schema.ts'
import { getMeta } from '../sql/meta.ts'

/**
 * Size classes of whole inputs: a class is named by its lower bound (exclusive) and reaches the
 * next bound (inclusive), so that the usual bounds of price tiers are bounds here.
 */
export const inputBuckets = [
  0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 200_000, 256_000, 512_000,
  1_000_000,
] as const

export const inputBucketOf = (inputTokens: number): number =>
  inputBuckets.findLast((bound) => inputTokens > bound) ?? 0

export const hourMs = 3_600_000

/** Every entry up to this id has its receipt. */
export const floorKey = 'receipts_floor'

export const floorOf = async (db: Kysely<Schema>): Promise<number> =>
  Number((await getMeta(db, floorKey)) ?? '0')

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
} as const

export type MoneyDimension = keyof typeof dimensions

export interface MoneyQuery {
  accountId?: string | undefined
  /** Whole hours, both. */
  fromMs: number
  untilMs: number
  by: readonly MoneyDimension[]
  /** Only these models and their dated versions; a handful, as every row is compared with all. */
  models?: readonly string[] | undefined
  /** Only what was spent with this token. */
  tokenId?: string | undefined
  /** Names that are told apart; others of the dimension are summed as `otherNames`. */
  kept?: KeptNames | undefined
  /** Sums at most. */
  limit?: number | undefined
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
  unit?: string
  tier?: string
  priceId?: string
  inputBucket?: number
  entries: number
  estimated: number
  quantity: number
  /** Signed as in the ledger. */
  amountNanos: bigint
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
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
}

export const sumMoney = (db: Kysely<Schema>, asked: MoneyQuery): Promise<MoneySum[]> =>
  sumBooked(db, asked, (groups) => hoursBetween(asked, groups))

/** The totals that `booked` selects, which have receipts, and the entries that have none yet. */
export async function sumBooked(
  db: Kysely<Schema>,
  asked: MoneyQuery,
  booked: (groups: RawBuilder<unknown>) => RawBuilder<unknown>,
): Promise<MoneySum[]> {
  const { fromMs, untilMs, by } = asked
  if (fromMs % hourMs !== 0 || untilMs % hourMs !== 0) throw new Error('sums are of whole hours')
  // Read separately so that its value can guide the planner. It may have advanced meanwhile, which
  // only makes the statement read more entries than it must.
  const floor = await floorOf(db)
  const columns = by.map((dimension) => dimensions[dimension][0])
  const named = columns.length === 0 ? sql`` : sql`${sql.raw(columns.join(', '))},`
  const groups = columns.length === 0 ? sql`` : sql`GROUP BY ${sql.raw(columns.join(', '))}`
  const order = columns.length === 0 ? sql`` : sql`ORDER BY ${sql.raw(columns.join(', '))}`
  // One statement, so that an entry is counted exactly once, as booked or as pending.
  const { rows } = await sql<SumRow>`
    SELECT ${named} ${totals} FROM (${folded(
      asked,
      sql`
      ${booked(groups)}
      UNION ALL
      SELECT ${pendingColumns} ${fromPending(floor)}
        AND e.at_ms >= ${fromMs} AND e.at_ms < ${untilMs} ${ofOne(asked, 'e.account_id')}
        ${ofModels(asked, 'e.model')} ${ofToken(asked, sql.raw(spentWith))}`,
    )}) AS money ${groups} ${order} ${atMost(asked)}`.execute(db)
  return rows.filter(({ entries }) => entries > 0).map((row) => shape(row, by))
}

/** Totals of the hours of a stretch, in the order of `allColumns`. */
export const hoursBetween = (asked: MoneyQuery, groups: RawBuilder<unknown>) => sql`
  SELECT ${sumsBy(asked.by, 'hour_ms')} FROM hourly_totals
  WHERE hour_ms >= ${asked.fromMs} AND hour_ms < ${asked.untilMs} ${ofAccounts(asked)}
    ${ofModels(asked, 'model')} ${ofToken(asked, sql`token_id`)} ${groups}`

/** The same shares, with one name for those that are not kept. */
function folded({ kept }: Pick<MoneyQuery, 'kept'>, shares: RawBuilder<unknown>) {
  if (kept === undefined) return shares
  const columns = allColumns.map((name) => {
    const dimension = foldedDimensions.find((each) => dimensions[each][0] === name)
    const names = dimension && kept[dimension]
    return names === undefined ? sql.ref(name) : foldedColumn(name, names)
  })
  return sql`SELECT ${sql.join(columns)} FROM (${shares}) AS shares`
}

export const foldedColumn = (name: string, kept: readonly string[]): RawBuilder<unknown> =>
  kept.length === 0
    ? sql`CAST(${otherNames} AS text) AS ${sql.ref(name)}`
    : sql`CASE WHEN ${sql.ref(name)} IN (${sql.join(kept)}) THEN ${sql.ref(name)}
        ELSE ${otherNames} END AS ${sql.ref(name)}`

const atMost = ({ limit }: MoneyQuery) => (limit === undefined ? sql`` : sql`LIMIT ${limit}`)

export const ofToken = ({ tokenId }: Pick<MoneyQuery, 'tokenId'>, column: RawBuilder<unknown>) =>
  tokenId === undefined ? sql`` : sql`AND ${column} = ${tokenId}`

const ofOne = ({ accountId }: MoneyQuery, column: string) =>
  accountId === undefined ? sql`` : sql`AND ${sql.raw(column)} = ${accountId}`

/** Without an account it changes only the plan: keys begin with the account, so all are listed. */
export const ofAccounts = (asked: MoneyQuery): RawBuilder<unknown> =>
  asked.accountId === undefined
    ? sql`AND account_id IN (SELECT id FROM accounts)`
    : ofOne(asked, 'account_id')

const ofModels = ({ models }: MoneyQuery, column: string) =>
  models === undefined ? sql`` : modelFilter(column, models)

/** No model name contains a LIKE wildcard. */
function modelFilter(column: string, models: readonly string[]): RawBuilder<unknown> {
  const each = models.map(
    (model) =>
      sql`${sql.ref(column)} = ${model} OR ${sql.ref(column)} LIKE ${`${model}-____-__-__`}`,
  )
  return sql`AND (${sql.join(each, sql` OR `)})`
}

function shape(row: SumRow, by: readonly MoneyDimension[]): MoneySum {
  const named: Record<string, unknown> = {}
  for (const dimension of by) {
    const [column, field] = dimensions[dimension]
    named[field] = row[column]
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
  }
}

export const keyColumns = Object.values(dimensions).map(([column]) => column)
export const wholeNumbers = [
  'entries',
  'estimated',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
] as const
export const valueColumns = ['quantity', 'amount_nanos', ...wholeNumbers] as const
export const allColumns = [...keyColumns, ...valueColumns]

// PostgreSQL sums bigint to numeric; the cast keeps the integer convention on both dialects.
const totals = sql.raw(
  [
    'coalesce(sum(quantity), 0) AS quantity',
    ...[...wholeNumbers, 'amount_nanos'].map(
      (name) => `CAST(coalesce(sum(${name}), 0) AS bigint) AS ${name}`,
    ),
  ].join(', '),
)

/** PostgreSQL takes a NULL of no type for text. */
const typeOf = (name: string) => (name === 'hour_ms' || name === 'input_bucket' ? 'bigint' : 'text')

/** Summed by these, in the order of `allColumns`, before any join: faster on both. */
export const sumsBy = (by: readonly MoneyDimension[], timeColumn: 'hour_ms' | 'day_ms') =>
  sql.raw(
    [
      ...Object.entries(dimensions).map(([dimension, [name]]) => {
        const column = name === 'hour_ms' ? timeColumn : name
        const isAsked = by.includes(dimension as MoneyDimension)
        return `${isAsked ? column : `CAST(NULL AS ${typeOf(name)})`} AS ${name}`
      }),
      'coalesce(sum(quantity), 0) AS quantity',
      ...valueColumns
        .slice(1)
        .map((name) => `CAST(coalesce(sum(${name}), 0) AS bigint) AS ${name}`),
    ].join(', '),
  )

const bucketCase = [...inputBuckets]
  .reverse()
  .filter((bound) => bound > 0)
  .map((bound) => `WHEN r.input_tokens > ${bound} THEN ${bound}`)
  .join(' ')

export const spentWith = `coalesce(e.token_id, r.token_id, t.token_id, '')`

/** In the order of `allColumns`. */
const pendingColumns = sql.raw(`
  e.account_id, e.at_ms - e.at_ms % ${hourMs}, e.kind,
  ${spentWith}, coalesce(e.model, ''), coalesce(e.unit, ''),
  coalesce(e.tier, ''), coalesce(e.price_id, ''), CASE ${bucketCase} ELSE 0 END,
  coalesce(e.quantity, 0), e.amount_nanos, 1, e.estimated,
  coalesce(r.input_tokens, 0), coalesce(r.output_tokens, 0),
  coalesce(r.cache_read_tokens, 0), coalesce(r.cache_write_tokens, 0)`)

/** The request `r` that an entry `e` charged, or the task `t` where `e` has no token. */
export const joinCharged = `
  LEFT JOIN requests r ON r.request_id = e.ref AND e.kind = 'charge'
  LEFT JOIN tasks t ON t.id = e.ref AND e.token_id IS NULL AND e.kind = 'charge'`

/** Filters entries `e` to those that moved a balance. */
export const isBooked = `e.kind IN ('credit', 'charge', 'adjust')`

/** Those without a receipt; every entry up to `floor` has one. */
export const isPending = (floor: number): RawBuilder<unknown> => sql`
  ${sql.raw(isBooked)} AND e.id > ${floor} AND NOT EXISTS (
    SELECT 1 FROM receipts x WHERE x.entry_id = e.id AND x.entry_id > ${floor}
  )`

/** The same as a row source, with what they charged; conditions may follow. */
export const fromPending = (floor: number): RawBuilder<unknown> =>
  sql`FROM entries e ${sql.raw(joinCharged)} WHERE ${isPending(floor)}`
