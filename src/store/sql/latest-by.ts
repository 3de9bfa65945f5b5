// How long a row may be put off, by how often it was tried: a row that waits for longer was put off by
// a clock that has been set back since.
import { type RawBuilder, sql } from 'kysely'

/** The latest that a row can be due which is put off now: after more tries, as after the last. */
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
