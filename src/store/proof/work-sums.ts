// Sums of charges, and of what was refunded of them, over many days: each question from the totals with the fewest rows
// that know its names. Equal to the sums of days at every moment.
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import { dialectOf } from '../sql/dialect-of.ts'
import { getMeta } from '../sql/meta.ts'
import { dayMs, type Grain, grains, monthStart, namedMonthsKey } from './grains.ts'
import { negatedSums, sums } from './sum-columns.ts'
import {
  byUnit,
  columnOf,
  coversHalf,
  type DaysQuery,
  grouped,
  hoursIn,
  list,
  type MoneyDimension,
  type MoneySum,
  ofAccounts,
  ofToken,
  type Part,
  splitDays,
  summed,
} from './totals.ts'

/** What can be asked for beside channels. Of kinds there are charges alone, with what was refunded of them. */
export const channelDimensions: readonly MoneyDimension[] = [
  ...(['account', 'hour', 'kind', 'model', 'unit', 'channel'] as const),
]

/**
 * The same as `sumDays`, of charges and refunds alone. By channel only whole days can be asked for, and no other
 * dimensions than those above.
 */
export async function sumWork(db: Kysely<Schema>, given: DaysQuery): Promise<MoneySum[]> {
  const asked = byUnit(given)
  const { days, rest } = splitDays(asked)
  if (asked.by.includes('channel') && rest.length > 0) throw new Error('hours have no channels')
  const parts = await partsOf(db, days, asked)
  const selects = await Promise.all(parts.map((part) => workIn(db, part, asked)))
  return summed(db, asked, [], [...selects, ...hoursIn(asked, rest)])
}

interface WorkPart extends Part {
  grain: Grain
  /** In a month above, and not asked for. */
  isSurplus?: boolean
}

const ofEntries: readonly MoneyDimension[] = ['token', 'tier', 'price']

/** Days of all accounts are few; of single ones there are months where time does not matter. */
async function partsOf(
  db: Kysely<Schema>,
  days: Part,
  { by, accountId, tokenId }: DaysQuery,
): Promise<WorkPart[]> {
  const isByEntry = tokenId !== undefined || by.some((each) => ofEntries.includes(each))
  if (isByEntry && by.includes('channel')) throw new Error('channels have no tokens')
  if (days.fromMs === days.untilMs) return []
  const isOfAll = !isByEntry && accountId === undefined && !by.includes('account')
  const grain = isOfAll ? grains.overall : by.includes('channel') ? grains.channel : grains.day
  if (grain === grains.overall || by.includes('hour')) return [{ grain, ...days }]
  const unnamedMs = isByEntry ? await getMeta(db, namedMonthsKey) : undefined
  const sinceMs = unnamedMs === undefined ? 0 : monthStart(Number(unnamedMs), 1)
  return splitMonths({ grain, ...days }, sinceMs, await newestDay(db))
}

/**
 * As whole months, none before `sinceMs`, and the days that are missing or too many: of the months at both ends, what has
 * fewer days. No days are after the newest.
 */
function splitMonths(days: WorkPart, sinceMs: number, newestMs: number): WorkPart[] {
  const { grain, fromMs, untilMs } = days
  const [before, after] = [monthStart(fromMs), monthStart(fromMs, 1)]
  const nearest = fromMs - before < after - fromMs ? before : after
  const first = Math.max(nearest, sinceMs)
  const [begun, end] = [monthStart(untilMs), monthStart(untilMs, 1)]
  const filledMs = Math.min(end, newestMs + dayMs)
  const last = filledMs - untilMs < untilMs - begun ? end : begun
  if (first >= last) return [days]
  const parts: WorkPart[] = [
    { grain: grains.month, fromMs: first, untilMs: last },
    { grain, fromMs, untilMs: first },
    { grain, fromMs: last, untilMs },
    { grain, fromMs: first, untilMs: fromMs, isSurplus: true },
    { grain, fromMs: untilMs, untilMs: Math.min(last, filledMs), isSurplus: true },
  ]
  return parts.filter((part) => part.fromMs < part.untilMs)
}

async function newestDay(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ ms: number | null }>`
    SELECT max(day_ms) AS ms FROM overall_totals`.execute(db)
  return rows[0]!.ms ?? 0
}

async function workIn(
  db: Kysely<Schema>,
  { grain, fromMs, untilMs, isSurplus }: WorkPart,
  asked: DaysQuery,
): Promise<RawBuilder<unknown>> {
  const isOfEntries = grain === grains.day
  const columns = asked.by.map((dimension) =>
    dimension === 'kind' && !isOfEntries
      ? sql`CAST('charge' AS text) AS kind`
      : columnOf(grain, dimension, asked),
  )
  const time = sql.raw(grain.time)
  const { accountId } = asked
  return sql`SELECT ${list(columns)} ${isSurplus === true ? negatedSums : sums} FROM ${sql.raw(grain.table)}
    WHERE ${time} >= ${fromMs} AND ${time} < ${untilMs} ${ofToken(asked, sql`token_id`)}
      ${isOfEntries ? await ofWork(db, { ...asked, fromMs, untilMs }) : ofAccount(accountId)}
    ${grouped(columns.length)}`
}

const ofAccount = (accountId: string | undefined) =>
  accountId === undefined ? sql`` : sql`AND account_id = ${accountId}`

/** Days of entries have all kinds of them, and begin with the account. */
async function ofWork(db: Kysely<Schema>, asked: DaysQuery): Promise<RawBuilder<unknown>> {
  const isOfAll = dialectOf(db) === 'postgres' && asked.accountId === undefined
  const readsAll = isOfAll && (await coversHalf(db, asked))
  return sql`AND kind IN ('charge', 'refund') ${ofAccounts({ ...asked, readsAll })}`
}
