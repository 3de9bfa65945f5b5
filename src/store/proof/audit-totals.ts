// Compares the totals with what they are totals of: hours with entries, days with hours. Of one moment.
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { otherNames } from '../../contract/totals.ts'
import { inEntry } from '../rows/ledger-rows.ts'
import type { Schema } from '../schema.ts'
import type { AuditScope, Mismatch } from './audit.ts'
import { type Books, timeText } from './audit-chain.ts'
import { dayMs, grains, hourMs, sumColumns } from './grains.ts'

type Db = Kysely<Schema>

const entryHour = sql`e.at_ms - e.at_ms % ${sql.lit(hourMs)}`

const callHour = sql`r.booked_at_ms - r.booked_at_ms % ${sql.lit(hourMs)}`

/** Hours whose totals differ from the entries with a receipt. */
export async function wrongHours(
  { db, dialect }: Books,
  { accountId }: AuditScope,
  limit: number,
): Promise<Mismatch[]> {
  // Otherwise all receipts are sorted on disk, which takes most of the time of an audit.
  if (dialect === 'postgres') await sql`SET LOCAL work_mem = '64MB'`.execute(db)
  // Old charges do not store their token.
  const { rows: silent } = await sql`
    SELECT 1 AS found FROM entries WHERE kind = 'charge' AND token_id IS NULL LIMIT 1`.execute(db)
  const where = accountId === undefined ? sql`` : sql`WHERE account_id = ${accountId}`
  const ofReceipts = accountId === undefined ? sql`` : sql`WHERE c.account_id = ${accountId}`
  const ofCalls = accountId === undefined ? sql`` : sql`AND r.account_id = ${accountId}`
  const token = silent.length === 0 ? sql`token_id,` : sql``
  const named = sql`account_id, hour_ms, kind, ${token} model, unit, tier, price_id`
  const modelOf = await comparedModel(db)
  // The minimum integer has no negation, and a tampered row may contain it anywhere: sums of counts would
  // overflow. Sums of fractional quantities depend on their order: a millionth is close enough.
  const { rows } = await sql<{ account_id: string; hour_ms: number }>`
    SELECT account_id, hour_ms FROM (
      SELECT account_id, hour_ms, kind, ${token}
        ${modelOf(sql`model`, 'account_id', sql`hour_ms`)} AS model, unit, tier, price_id,
        entries, estimated, quantity, amount_nanos / 1000000000 AS whole_nanos,
        amount_nanos % 1000000000 AS rest_nanos FROM hourly_totals ${where}
      UNION ALL
      SELECT c.account_id, ${entryHour}, ${sql.raw(inEntry('kind'))},
        ${silent.length === 0 ? sql`coalesce(e.token_id, ''),` : sql``}
        ${modelOf(sql`coalesce(e.model, '')`, 'c.account_id', entryHour)},
        coalesce(e.unit, ''), coalesce(e.tier, ''), coalesce(e.price_id, ''), -1,
        -CAST(e.estimated AS numeric),
        -coalesce(e.quantity, 0), -(e.amount_nanos / 1000000000), -(e.amount_nanos % 1000000000)
      FROM receipts c JOIN entries e ON e.id = c.entry_id ${ofReceipts}
      UNION ALL
      SELECT r.account_id, ${callHour}, 'charge', ${silent.length === 0 ? sql`r.token_id,` : sql``}
        ${modelOf(sql`r.model`, 'r.account_id', callHour)}, coalesce(r.unit, ''),
        coalesce(r.tier, ''), coalesce(r.price_id, ''), -1, -CAST(r.estimated AS numeric),
        -coalesce(r.quantity, 0), r.charge_nanos / 1000000000, r.charge_nanos % 1000000000
      FROM requests r WHERE r.number IS NOT NULL ${ofCalls}
    ) both_sides GROUP BY ${named}
    HAVING sum(CAST(entries AS double precision)) <> 0
      OR sum(CAST(estimated AS double precision)) <> 0
      OR abs(sum(quantity)) > 0.000001 * count(*)
      OR sum(whole_nanos) * 1000000000 + sum(rest_nanos) <> 0
    ORDER BY account_id, hour_ms LIMIT ${limit}`.execute(db)
  return rows.map(({ account_id, hour_ms }) => ({
    accountId: account_id,
    problem: `the sums of the hour from ${timeText(hour_ms)} are not those of its entries`,
  }))
}

/** Hours in which some models count as one are compared over all their models. */
async function comparedModel(db: Db) {
  const { rows: crowded } = await sql`
    SELECT 1 AS found FROM hourly_totals WHERE model = ${otherNames} LIMIT 1`.execute(db)
  return (model: RawBuilder<unknown>, account: string, hour: RawBuilder<unknown>) =>
    crowded.length === 0
      ? model
      : sql`CASE WHEN (${sql.ref(account)}, ${hour}) IN (
          SELECT account_id, hour_ms FROM hourly_totals WHERE model = ${otherNames}
        ) THEN ${otherNames} ELSE ${model} END`
}

/** Days whose totals differ from those of their hours. */
export async function wrongDays(
  db: Kysely<Schema>,
  accountId: string | undefined,
  limit: number,
): Promise<{ accountId: string; dayMs: number }[]> {
  const where = accountId === undefined ? sql`` : sql`WHERE account_id = ${accountId}`
  const named = sql.raw(grains.day.keys.join(', '))
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

const compared = sumColumns.filter((name) => name !== 'quantity' && name !== 'amount_nanos')
