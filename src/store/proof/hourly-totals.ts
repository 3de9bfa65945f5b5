// Hourly totals of entries. The receipt pass of receipts.ts adds to these rows; a sum also includes
// entries that have no receipt yet, so that it equals the ledger at every moment. Knows no prices.
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { EntryKind } from '../../contract/ledger.ts'
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
}

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

export async function sumMoney(db: Kysely<Schema>, asked: MoneyQuery): Promise<MoneySum[]> {
  const { accountId, fromMs, untilMs, by, models } = asked
  if (fromMs % hourMs !== 0 || untilMs % hourMs !== 0) throw new Error('sums are of whole hours')
  // Read separately so that its value can guide the planner. It may have advanced meanwhile, which
  // only makes the statement read more entries than it must.
  const floor = await floorOf(db)
  const columns = by.map((dimension) => dimensions[dimension][0])
  const named = columns.length === 0 ? sql`` : sql`${sql.raw(columns.join(', '))},`
  const groups = columns.length === 0 ? sql`` : sql`GROUP BY ${sql.raw(columns.join(', '))}`
  const order = columns.length === 0 ? sql`` : sql`ORDER BY ${sql.raw(columns.join(', '))}`
  const ofAccount = (name: string) =>
    accountId === undefined ? sql`` : sql`AND ${sql.raw(name)} = ${accountId}`
  const ofModels = (name: string) => (models === undefined ? sql`` : modelFilter(name, models))
  // One statement, so that an entry is counted exactly once, as booked or as pending.
  const { rows } = await sql<SumRow>`
    SELECT ${named} ${totals} FROM (
      SELECT ${hourSums(columns)} FROM hourly_totals
      WHERE hour_ms >= ${fromMs} AND hour_ms < ${untilMs}
        ${accountId === undefined ? ofAll : ofAccount('account_id')}
        ${ofModels('model')} ${groups}
      UNION ALL
      SELECT ${pendingColumns} ${fromPending(floor)}
        AND e.at_ms >= ${fromMs} AND e.at_ms < ${untilMs} ${ofAccount('e.account_id')}
        ${ofModels('e.model')}
    ) AS money ${groups} ${order}`.execute(db)
  return rows.filter(({ entries }) => entries > 0).map((row) => shape(row, by))
}

/** Changes only the plan: the key begins with the account, so all accounts are listed. */
const ofAll = sql`AND account_id IN (SELECT id FROM accounts)`

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

const keyColumns = Object.values(dimensions).map(([column]) => column)
const wholeNumbers = [
  'entries',
  'estimated',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
] as const
const valueColumns = ['quantity', 'amount_nanos', ...wholeNumbers] as const
const allColumns = [...keyColumns, ...valueColumns]

// PostgreSQL sums bigint to numeric; the cast keeps the integer convention on both dialects.
const totals = sql.raw(
  [
    'coalesce(sum(quantity), 0) AS quantity',
    ...[...wholeNumbers, 'amount_nanos'].map(
      (name) => `CAST(coalesce(sum(${name}), 0) AS bigint) AS ${name}`,
    ),
  ].join(', '),
)

/** Hours summed by these columns, in the order of `allColumns`, before any join: faster on both. */
const hourSums = (columns: readonly string[]) =>
  sql.raw(
    [
      ...keyColumns.map((name) => (columns.includes(name) ? name : `NULL AS ${name}`)),
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

/** In the order of `allColumns`. */
const pendingColumns = sql.raw(`
  e.account_id, e.at_ms - e.at_ms % ${hourMs}, e.kind,
  coalesce(e.token_id, r.token_id, t.token_id, ''), coalesce(e.model, ''), coalesce(e.unit, ''),
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

/** What an entry adds to the hourly totals when it gets its receipt. */
interface HourShare {
  at_ms: number
  account_id: string
  kind: EntryKind
  spent_with: string
  model: string | null
  unit: string | null
  tier: string | null
  price_id: string | null
  estimated: number
  quantity: number | null
  amount_nanos: bigint
  input_tokens: number
  output_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
}

/** Sum of the entries of one hour with equal dimensions. */
type Hour = Record<(typeof wholeNumbers)[number] | 'quantity', number> & {
  key: readonly (string | number)[]
  amount_nanos: bigint
}

const adding = valueColumns.map((name) => `${name} = hourly_totals.${name} + excluded.${name}`)
const keys = keyColumns.join(', ')

/** The values, or a query for them, go in between. */
export const addToHours = [
  `INSERT INTO hourly_totals (${allColumns.join(', ')})`,
  `ON CONFLICT (${keys}) DO UPDATE SET ${adding.join(', ')}`,
] as const

export const hourColumns: readonly string[] = allColumns

/** In the order of `hourColumns`. */
export const valuesOf = (hour: Hour): (string | number | bigint)[] => [
  ...hour.key,
  ...valueColumns.map((name) => hour[name]),
]

/** Sums shares with equal keys. */
export function gatherHours(shares: readonly HourShare[]): Hour[] {
  const hours = new Map<string, Hour>()
  for (const share of shares) {
    const key = hourKey(share)
    const name = key.join('\u001f')
    const hour = hours.get(name)
    if (hour === undefined) hours.set(name, firstOf(key, share))
    else add(hour, share)
  }
  return [...hours.values()]
}

/** In the order of `keyColumns`. */
const hourKey = (share: HourShare): (string | number)[] => [
  share.account_id,
  share.at_ms - (share.at_ms % hourMs),
  share.kind,
  share.spent_with,
  share.model ?? '',
  share.unit ?? '',
  share.tier ?? '',
  share.price_id ?? '',
  inputBucketOf(share.input_tokens),
]

const firstOf = (key: Hour['key'], share: HourShare): Hour => ({
  key,
  entries: 1,
  estimated: share.estimated,
  quantity: share.quantity ?? 0,
  amount_nanos: share.amount_nanos,
  input_tokens: share.input_tokens,
  output_tokens: share.output_tokens,
  cache_read_tokens: share.cache_read_tokens,
  cache_write_tokens: share.cache_write_tokens,
})

function add(hour: Hour, share: HourShare): void {
  hour.entries++
  hour.estimated += share.estimated
  hour.quantity += share.quantity ?? 0
  hour.amount_nanos += share.amount_nanos
  hour.input_tokens += share.input_tokens
  hour.output_tokens += share.output_tokens
  hour.cache_read_tokens += share.cache_read_tokens
  hour.cache_write_tokens += share.cache_write_tokens
}
