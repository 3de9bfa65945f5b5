// Daily totals of entries: what the hourly totals of a day add up to, without size classes of inputs. The
// receipt pass adds to both in one transaction, so a sum of days equals the ledger at every moment.
// Bills and proofs do not use them; they read hours.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Hour } from './hour-shares.ts'
import {
  floorOf,
  hoursBetween,
  keyColumns,
  type MoneyQuery,
  type MoneySum,
  ofAccounts,
  ofToken,
  sumBooked,
  sumsBy,
  valueColumns,
} from './hourly-totals.ts'

export const dayMs = 86_400_000
/** Maximum clock difference of gateways that share a database. */
const doubtMs = 3_600_000

const dayKeys = keyColumns.flatMap((name) =>
  name === 'input_bucket' ? [] : [name === 'hour_ms' ? 'day_ms' : name],
)
export const dayColumns: readonly string[] = [...dayKeys, ...valueColumns]

const adding = valueColumns.map((name) => `${name} = daily_totals.${name} + excluded.${name}`)

/** The values go in between. */
export const addToDays = [
  `INSERT INTO daily_totals (${dayColumns.join(', ')})`,
  `ON CONFLICT (${dayKeys.join(', ')}) DO UPDATE SET ${adding.join(', ')}`,
] as const

type DayValues = (string | number | bigint)[]

/** What hours add to their days, each in the order of `dayColumns`. */
export function gatherDays(hours: readonly Hour[]): DayValues[] {
  const days = new Map<string, DayValues>()
  for (const hour of hours) {
    const key = dayKeyOf(hour)
    const name = key.join('\u001f')
    const values = days.get(name)
    if (values === undefined) days.set(name, [...key, ...valueColumns.map((each) => hour[each])])
    else addHour(values, hour)
  }
  return [...days.values()]
}

function dayKeyOf({ key }: Hour): (string | number)[] {
  const [accountId, hour, ...rest] = key
  return [accountId!, Number(hour) - (Number(hour) % dayMs), ...rest.slice(0, -1)]
}

function addHour(values: DayValues, hour: Hour): void {
  for (const [i, name] of valueColumns.entries()) {
    const at = dayKeys.length + i
    // Each column is of one kind of number.
    values[at] = ((values[at] as number) + (hour[name] as number)) as never
  }
}

/** Without size classes of inputs, which days do not have. Whole hours, as of `sumMoney`. */
export type DaysQuery = Omit<MoneyQuery, 'models'>

/**
 * The same as `sumMoney`, of far fewer rows where whole days are asked for. By the hour, the hours of a
 * whole day stand as one at its beginning.
 */
export async function sumDays(db: Kysely<Schema>, asked: DaysQuery): Promise<MoneySum[]> {
  const { fromMs, untilMs, by } = asked
  const first = Math.ceil(fromMs / dayMs) * dayMs
  const last = Math.max(first, Math.floor(untilMs / dayMs) * dayMs)
  if (by.includes('bucket')) throw new Error('days have no size classes')
  return sumBooked(db, asked, (groups) => {
    const days = sql`SELECT ${sumsBy(by, 'day_ms')} FROM daily_totals
      WHERE day_ms >= ${first} AND day_ms < ${last} ${ofAccounts(asked)}
        ${ofToken(asked, sql`token_id`)} ${groups}`
    const rest = [
      { fromMs, untilMs: Math.min(first, untilMs) },
      { fromMs: Math.max(last, fromMs), untilMs },
    ].filter((part) => part.fromMs < part.untilMs)
    return sql.join(
      [days, ...rest.map((part) => hoursBetween({ ...asked, ...part }, groups))],
      sql` UNION ALL `,
    )
  })
}

/** Everything before this moment has been booked, and no more can follow. */
export async function settledUntil(db: Kysely<Schema>): Promise<number> {
  const floor = await floorOf(db)
  const { rows } = await sql<{ booked_ms: number | null; open_ms: number | null }>`
    SELECT (SELECT at_ms FROM entries WHERE id <= ${floor} ORDER BY id DESC LIMIT 1) AS booked_ms,
      (SELECT min(at_ms) FROM entries WHERE id > ${floor}) AS open_ms`.execute(db)
  const { booked_ms: booked, open_ms: open } = rows[0]!
  return Math.min(booked ?? 0, open ?? Number.POSITIVE_INFINITY) - doubtMs
}

/** Days whose totals differ from those of their hours. */
export async function wrongDays(
  db: Kysely<Schema>,
  accountId: string | undefined,
  limit: number,
): Promise<{ accountId: string; dayMs: number }[]> {
  const where = accountId === undefined ? sql`` : sql`WHERE account_id = ${accountId}`
  const named = sql.raw(dayKeys.join(', '))
  const counts = sql.raw(compared.join(', '))
  // The minimum integer has no negation, and a tampered row may contain it anywhere. Sums of
  // fractional quantities depend on their order: a millionth is close enough.
  const { rows } = await sql<{ account_id: string; day_ms: number }>`
    SELECT account_id, day_ms FROM (
      SELECT ${named}, 1 AS side, entries AS rows_in, ${counts}, quantity,
        amount_nanos / 1000000000 AS whole_nanos, amount_nanos % 1000000000 AS rest_nanos
      FROM daily_totals ${where}
      UNION ALL
      SELECT account_id, hour_ms - hour_ms % ${sql.lit(dayMs)}, kind, token_id, model, unit, tier,
        price_id, -1, entries, ${counts}, quantity, amount_nanos / 1000000000,
        amount_nanos % 1000000000
      FROM hourly_totals ${where}
    ) both_sides GROUP BY ${named}
    HAVING ${sql.join(
      compared.map((name) => sql`${difference(name)} <> 0`),
      sql` OR `,
    )} OR ${difference('whole_nanos')} * 1000000000 + ${difference('rest_nanos')} <> 0
      OR abs(sum(quantity * side)) > 0.000001 * sum(abs(rows_in))
    ORDER BY account_id, day_ms LIMIT ${limit}`.execute(db)
  return rows.map(({ account_id, day_ms }) => ({ accountId: account_id, dayMs: day_ms }))
}

const difference = (column: string) => sql`sum(CAST(${sql.ref(column)} AS numeric) * side)`

const compared = [
  'entries',
  'estimated',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
]
