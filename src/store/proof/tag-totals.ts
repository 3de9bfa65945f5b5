// Hourly totals of tagged charges, one row for each value of each tag. The receipt pass adds to these
// rows; a sum also includes charges that have no receipt yet. Values beyond a maximum per account, month
// and name count as one: see total-names.ts.
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { pairsIn } from '../../contract/tags/index.ts'
import type { Dialect, Schema } from '../schema.ts'
import { hasName, tagValue } from '../sql/tag-texts.ts'
import { addToSums } from './hour-shares.ts'
import {
  floorOf,
  foldedColumn,
  hourMs,
  isPending,
  joinCharged,
  type KeptNames,
  type MoneySum,
  ofToken,
  spentWith,
} from './hourly-totals.ts'
import type { PendingRow } from './pending-row.ts'
import { modelName, type TotalNames } from './total-names.ts'

const keyColumns = ['account_id', 'hour_ms', 'name', 'value', 'token_id', 'model', 'unit'] as const
const sumColumns = [
  'entries',
  'estimated',
  'quantity',
  'amount_nanos',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
] as const
type SumColumn = (typeof sumColumns)[number]

export const tagColumns: readonly string[] = [...keyColumns, ...sumColumns]

const adding = sumColumns.map((name) => `${name} = tag_totals.${name} + excluded.${name}`)

/** The values go in between. */
export const addToTags = [
  `INSERT INTO tag_totals (${tagColumns.join(', ')})`,
  `ON CONFLICT (${keyColumns.join(', ')}) DO UPDATE SET ${adding.join(', ')}`,
] as const

interface TagHour extends Record<Exclude<SumColumn, 'amount_nanos'>, number> {
  account_id: string
  hour_ms: number
  name: string
  value: string
  token_id: string
  model: string
  unit: string
  amount_nanos: bigint
}

/** In the order of `tagColumns`. */
export const tagValues = (hour: TagHour): (string | number | bigint)[] => [
  ...keyColumns.map((name) => hour[name]),
  ...sumColumns.map((name) => hour[name]),
]

type Scope = Pick<TagHour, 'account_id' | 'hour_ms' | 'name'>

/** Shares of these entries, by key. */
export function gatherTags(rows: readonly PendingRow[], names: TotalNames): TagHour[] {
  const hours = new Map<string, TagHour>()
  for (const row of rows) {
    if (row.kind !== 'charge' || row.tags === null) continue
    const { account_id } = row
    const hour_ms = row.at_ms - (row.at_ms % hourMs)
    const model = modelIn(names)(row)
    for (const [name, given] of pairsIn(row.tags)) {
      const value = names.of(row, name, given)
      addShare(hours, { account_id, hour_ms, name, value }, row, model)
    }
  }
  return [...hours.values()]
}

/** The model of an entry as totals name it. */
export const modelIn =
  (names: TotalNames) =>
  (row: PendingRow): string =>
    row.model === null ? '' : names.of(row, modelName, row.model)

function addShare(
  hours: Map<string, TagHour>,
  of: Scope & { value: string },
  row: PendingRow,
  model: string,
): void {
  const key = { ...of, token_id: row.spent_with, model, unit: row.unit ?? '' }
  const name = keyColumns.map((column) => key[column]).join('\u001f')
  const hour = hours.get(name) ?? { ...key, ...noSums }
  hours.set(name, hour)
  addToSums(hour, row)
}

const noSums = {
  entries: 0,
  estimated: 0,
  quantity: 0,
  amount_nanos: 0n,
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
}

const dimensions = {
  account: ['account_id', 'accountId'],
  hour: ['hour_ms', 'hourMs'],
  token: ['token_id', 'tokenId'],
  model: ['model', 'model'],
  unit: ['unit', 'unit'],
} as const

export type TagDimension = keyof typeof dimensions

export interface TagQuery {
  dialect: Dialect
  accountId?: string | undefined
  /** Whole hours, both. */
  fromMs: number
  untilMs: number
  /** Of the tag; `@` for the end user. */
  name: string
  by: readonly TagDimension[]
  tokenId?: string | undefined
  /** Values that are told apart, and names of dimensions; others are summed as `otherNames`. */
  keptValues?: readonly string[] | undefined
  kept?: KeptNames | undefined
  /** Sums at most. */
  limit?: number | undefined
}

export interface TagSum extends MoneySum {
  value: string
}

/** Tagged charges by value and dimensions. */
export async function sumTags(db: Kysely<Schema>, asked: TagQuery): Promise<TagSum[]> {
  const { accountId, fromMs, untilMs, name } = asked
  const ofAccount = (column: string) =>
    accountId === undefined ? sql`` : sql`AND ${sql.ref(column)} = ${accountId}`
  const floor = await floorOf(db)
  // One statement, so that a charge is counted exactly once, as booked or as pending.
  return summed(
    db,
    asked,
    sql`
      SELECT ${sql.raw([...keyColumns, ...sumColumns].join(', '))} FROM tag_totals
      WHERE hour_ms >= ${fromMs} AND hour_ms < ${untilMs} AND name = ${name}
        ${accountId === undefined ? sql`AND account_id IN (SELECT id FROM accounts)` : ofAccount('account_id')}
        ${ofToken(asked, sql`token_id`)}
      UNION ALL
      SELECT ${sharesOf(asked)} FROM entries e ${sql.raw(joinCharged)}
      WHERE ${isPending(floor)} AND ${isTagged(asked)} ${ofAccount('e.account_id')}
        ${ofToken(asked, sql.raw(spentWith))}`,
  )
}

const isTagged = ({ name, fromMs, untilMs }: TagQuery) => sql`
  e.kind = 'charge' AND e.tags IS NOT NULL AND ${hasName('e.tags', name)}
  AND e.at_ms >= ${fromMs} AND e.at_ms < ${untilMs}`

/** In the order of `tagColumns`. */
const sharesOf = ({ dialect, name }: TagQuery): RawBuilder<unknown> => sql`
  e.account_id, e.at_ms - e.at_ms % ${sql.lit(hourMs)} AS hour_ms, ${sql.lit(name)} AS name,
  ${tagValue(dialect, 'e.tags', name)} AS value,
  ${sql.raw(spentWith)} AS token_id,
  coalesce(e.model, '') AS model, coalesce(e.unit, '') AS unit,
  1 AS entries, e.estimated, coalesce(e.quantity, 0) AS quantity, e.amount_nanos,
  coalesce(r.input_tokens, 0) AS input_tokens, coalesce(r.output_tokens, 0) AS output_tokens,
  coalesce(r.cache_read_tokens, 0) AS cache_read_tokens,
  coalesce(r.cache_write_tokens, 0) AS cache_write_tokens`

async function summed(
  db: Kysely<Schema>,
  asked: TagQuery,
  shares: RawBuilder<unknown>,
): Promise<TagSum[]> {
  const { by, limit } = asked
  const columns = ['value', ...by.map((dimension) => dimensions[dimension][0])].join(', ')
  const { rows } = await sql<SumRow>`
    SELECT ${sql.raw(columns)}, ${totals} FROM (${withFolded(asked, shares)}) AS money
    GROUP BY ${sql.raw(columns)} ORDER BY ${sql.raw(columns)}
    ${limit === undefined ? sql`` : sql`LIMIT ${limit}`}`.execute(db)
  return rows.map((row) => ({
    value: row.value,
    ...Object.fromEntries(
      by.map((dimension) => [dimensions[dimension][1], row[dimensions[dimension][0]]]),
    ),
    entries: row.entries,
    estimated: row.estimated,
    quantity: row.quantity,
    amountNanos: row.amount_nanos,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cacheReadTokens: row.cache_read_tokens,
    cacheWriteTokens: row.cache_write_tokens,
  }))
}

function withFolded({ kept, keptValues }: TagQuery, shares: RawBuilder<unknown>) {
  if (kept === undefined && keptValues === undefined) return shares
  const names: Readonly<Record<string, readonly string[] | undefined>> = {
    account_id: kept?.account,
    token_id: kept?.token,
    model: kept?.model,
    value: keptValues,
  }
  const columns = tagColumns.map((name) =>
    names[name] === undefined ? sql.ref(name) : foldedColumn(name, names[name]),
  )
  return sql`SELECT ${sql.join(columns)} FROM (${shares}) AS shares`
}

type SumRow = Record<string, unknown> &
  Record<Exclude<SumColumn, 'amount_nanos'>, number> & { value: string; amount_nanos: bigint }

// PostgreSQL sums bigint to numeric; the cast keeps the integer convention on both dialects.
const totals = sql.raw(
  sumColumns
    .map((name) =>
      name === 'quantity' ? 'sum(quantity) AS quantity' : `CAST(sum(${name}) AS bigint) AS ${name}`,
    )
    .join(', '),
)
