// Rows passed to a statement as one JSON parameter, however many.
import { type RawBuilder, sql } from 'kysely'
import type { Dialect } from '../schema.ts'

/** Any number of rows, `given` as one parameter, so that the statement text is always the same. */
export function listed(
  dialect: Dialect,
  columns: Readonly<Record<string, 'text' | 'int'>>,
  rows: readonly object[],
): RawBuilder<unknown> {
  const names = Object.keys(columns)
  const json = JSON.stringify(rows, names)
  const picked = names.map((name) => {
    if (dialect === 'sqlite') return `value ->> '$.${name}' AS ${name}`
    const cell = `value ->> '${name}'`
    return columns[name] === 'int' ? `CAST(${cell} AS bigint) AS ${name}` : `${cell} AS ${name}`
  })
  const select = sql.raw(`SELECT ${picked.join(', ')}`)
  return dialect === 'sqlite'
    ? sql`(${select} FROM json_each(${json})) AS given`
    : sql`(${select} FROM json_array_elements(CAST(${json} AS json)) AS each(value)) AS given`
}
