// The names with the largest charges in a stretch of time, so many at most: those that a page tells apart
// when there are too many of them. From daily totals, and from hourly ones by tag.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import { dayMs } from './grains.ts'
import { modelName } from './total-names.ts'
import { type FoldedDimension, isWorthAll, type MoneyQuery, ofAccounts, ofToken } from './totals.ts'

const columns = {
  model: 'model',
  token: 'token_id',
  account: 'account_id',
  tier: 'tier',
  price: 'price_id',
} as const satisfies Record<FoldedDimension, string>

type Stretch = Pick<MoneyQuery, 'accountId' | 'tokenId' | 'fromMs' | 'untilMs'>

export async function topNames(
  db: Kysely<Schema>,
  dimension: FoldedDimension,
  asked: Stretch,
  limit: number,
): Promise<string[]> {
  if (limit <= 0) return []
  const column = sql.raw(columns[dimension])
  const { rows } = await sql<{ name: string }>`
    SELECT ${column} AS name FROM daily_totals
    WHERE day_ms > ${asked.fromMs - dayMs} AND day_ms < ${asked.untilMs} AND kind = 'charge'
      ${ofAccounts(asked)} ${ofToken(asked, sql`token_id`)}
    GROUP BY ${column} ORDER BY sum(amount_nanos), ${column} LIMIT ${limit}`.execute(db)
  return rows.map(({ name }) => name)
}

/** Every account with charges, those with the largest first, and on how many days it has some. */
export async function accountDays(
  db: Kysely<Schema>,
  { fromMs, untilMs }: Stretch,
): Promise<{ name: string; days: number }[]> {
  const ofAll = ofAccounts({ readsAll: await isWorthAll(db, { fromMs, untilMs }) })
  const { rows } = await sql<{ name: string; days: number }>`
    SELECT account_id AS name, count(*) AS days FROM (
      SELECT account_id, sum(amount_nanos) AS amount_nanos FROM daily_totals
      WHERE day_ms > ${fromMs - dayMs} AND day_ms < ${untilMs} AND kind = 'charge' ${ofAll}
      GROUP BY account_id, day_ms) AS days
    GROUP BY account_id ORDER BY sum(amount_nanos), account_id`.execute(db)
  return rows
}

/** Of a tag; `@` for the end user. */
export async function topValues(
  db: Kysely<Schema>,
  name: string,
  asked: Stretch,
  limit: number,
): Promise<string[]> {
  if (limit <= 0) return []
  const { rows } = await sql<{ value: string }>`
    SELECT value FROM tag_totals
    WHERE hour_ms >= ${asked.fromMs} AND hour_ms < ${asked.untilMs} AND name = ${name}
      ${ofAccounts(asked)} ${ofToken(asked, sql`token_id`)}
    GROUP BY value ORDER BY sum(amount_nanos), value LIMIT ${limit}`.execute(db)
  return rows.map(({ value }) => value)
}

/** Models that have totals of their own in the months of a stretch, over all its accounts. */
export async function countModels(
  db: Kysely<Schema>,
  accountId: string | undefined,
  months: { first: string; last: string },
): Promise<number> {
  const where =
    accountId === undefined
      ? sql`account_id IN (SELECT id FROM accounts)`
      : sql`account_id = ${accountId}`
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM (
      SELECT DISTINCT value FROM total_names WHERE ${where} AND month >= ${months.first}
        AND month <= ${months.last} AND name = ${modelName}) AS names`.execute(db)
  return rows[0]!.count
}
