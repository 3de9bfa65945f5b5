// Maximum delay of a row by its number of attempts: a row that waits longer was postponed under a
// clock that has been set back since.
import { type RawBuilder, sql } from 'kysely'

/** The latest due time of a row postponed now; attempts beyond the list use its last delay. */
export function latestBy(
  nowMs: number,
  column: string,
  maxMs: readonly number[],
): RawBuilder<number> {
  const cases = maxMs.map((ms, tries) => sql`WHEN ${sql.lit(tries)} THEN ${sql.lit(Math.ceil(ms))}`)
  const rest = sql.lit(Math.ceil(maxMs.at(-1) ?? 0))
  const max = sql`CASE ${sql.ref(column)} ${sql.join(cases, sql` `)} ELSE ${rest} END`
  return sql`(CAST(${Math.ceil(nowMs)} AS bigint) + ${max})`
}
