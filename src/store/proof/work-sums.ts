// Sums of charges, and of what was refunded of them, over many days: each question from the totals with the fewest rows
// that know its names. Equal to the sums of days at every moment.
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { otherNames } from '../../contract/totals.ts'
import type { Schema } from '../schema.ts'
import { getMeta } from '../sql/meta.ts'
import { dayMs, type Grain, grains, monthStart, namedMonthsKey } from './grains.ts'
import { negatedSums, negatedWorkSums, sums, workSums } from './sum-columns.ts'
import {
  byUnit,
  columnOf,
  type DaysQuery,
  grouped,
  hoursIn,
  isWorthAll,
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
  /** Of these accounts alone. */
  accounts?: readonly string[]
  /** Summed as that of the other accounts. */
  isOfOthers?: boolean
  /** In a part before, and not asked for there. */
  isSurplus?: boolean
}

const ofEntries: readonly MoneyDimension[] = ['token', 'tier', 'price']

/** Days of all accounts are few; of single ones there are months where time does not matter. */
async function partsOf(
  db: Kysely<Schema>,
  days: Part,
  { by, accountId, tokenId, kept }: DaysQuery,
): Promise<WorkPart[]> {
  const isByEntry = tokenId !== undefined || by.some((each) => ofEntries.includes(each))
  if (isByEntry && by.includes('channel')) throw new Error('channels have no tokens')
  if (days.fromMs === days.untilMs) return []
  const isOfAll = !isByEntry && accountId === undefined
  if (isOfAll && !by.includes('account')) return [{ grain: grains.overall, ...days }]
  const grain = by.includes('channel') ? grains.channel : grains.day
  if (isOfAll && kept?.account !== undefined) return partsBeside(kept.account, days, grain)
  if (by.includes('hour')) return [{ grain, ...days }]
  const unnamedMs = isByEntry ? await getMeta(db, namedMonthsKey) : undefined
  const sinceMs = unnamedMs === undefined ? 0 : monthStart(Number(unnamedMs), 1)
  return splitMonths({ grain, ...days }, sinceMs, await newestDay(db))
}

/** Those of the accounts; those of the others are what is left of all. */
function partsBeside(accounts: readonly string[], days: Part, grain: Grain): WorkPart[] {
  const all: WorkPart = { ...days, grain: grains.overall, isOfOthers: true }
  if (accounts.length === 0) return [all]
  const theirs: WorkPart = { ...days, grain, accounts }
  return [theirs, all, { ...theirs, isOfOthers: true, isSurplus: true }]
}

/**
 * As whole months, none before `sinceMs`, and the days that are missing or too many: of the months at both ends, what has
 * fewer days.
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
    { grain, fromMs: untilMs, untilMs: last, isSurplus: true },
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
  { grain, fromMs, untilMs, accounts, isOfOthers, isSurplus }: WorkPart,
  asked: DaysQuery,
): Promise<RawBuilder<unknown>> {
  const columns = asked.by.map((dimension) => {
    if (dimension === 'kind') return sql`CAST('charge' AS text) AS kind`
    if (dimension !== 'account') return columnOf(grain, dimension, asked)
    if (isOfOthers === true) return sql`CAST(${otherNames} AS text) AS account_id`
    return accounts === undefined ? columnOf(grain, dimension, asked) : sql`account_id`
  })
  const time = sql.raw(grain.time)
  const span = { ...asked, fromMs, untilMs }
  const [plus, minus] = grain === grains.day ? [workSums, negatedWorkSums] : [sums, negatedSums]
  return sql`SELECT ${list(columns)} ${isSurplus === true ? minus : plus} FROM ${sql.raw(grain.table)}
    WHERE ${time} >= ${fromMs} AND ${time} < ${untilMs} ${ofToken(asked, sql`token_id`)}
      ${grain === grains.day ? sql`AND kind IN ('charge', 'refund')` : sql``}
      ${accounts === undefined ? await ofAsked(db, span, grain) : sql`AND account_id IN (${sql.join(accounts)})`}
    ${grouped(columns.length)}`
}

/** Only days of entries are in the order of accounts. */
async function ofAsked(
  db: Kysely<Schema>,
  asked: DaysQuery,
  grain: Grain,
): Promise<RawBuilder<unknown>> {
  const { accountId } = asked
  if (accountId !== undefined) return sql`AND account_id = ${accountId}`
  if (grain !== grains.day) return sql``
  return ofAccounts({ readsAll: await isWorthAll(db, asked) })
}
