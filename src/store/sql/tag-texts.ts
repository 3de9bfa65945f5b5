// Tags in SQL: whether a row has a pair, and the value of a name. Tags are one text of pairs with commas
// between them; see contract/tags/index.ts.
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Dialect } from '../schema.ts'

/** Whether the column `tags` has this pair. Both dialects spell it alike, and case matters. */
export const hasPair = (pair: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`replace(',' || tags || ',', ${`,${pair},`}, '') <> ',' || tags || ','`

/** The value of a name in a column of tags that have the name. */
export function tagValue(dialect: Dialect, column: string, name: string): RawBuilder<string> {
  const place = sql.raw(dialect === 'sqlite' ? 'instr' : 'strpos')
  const start = `,${name}=`
  const rest = sql`substr(',' || ${sql.ref(column)} || ',',
    ${place}(',' || ${sql.ref(column)} || ',', ${sql.lit(start)}) + ${sql.lit(start.length)})`
  return sql<string>`substr(${rest}, 1, ${place}(${rest}, ',') - 1)`
}

/** Whether a column of tags has the name. */
export const hasName = (column: string, name: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`replace(',' || ${sql.ref(column)}, ${sql.lit(`,${name}=`)}, '') <> ',' || ${sql.ref(column)}`
