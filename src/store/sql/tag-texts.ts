// Tags in SQL: whether a row has a pair. Tags are one text of pairs with commas
// between them; see contract/tags/index.ts.
import { type RawBuilder, type SqlBool, sql } from 'kysely'

/** Whether the column `tags` has this pair. Both dialects spell it alike, and case matters. */
export const hasPair = (pair: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`replace(',' || tags || ',', ${`,${pair},`}, '') <> ',' || tags || ','`
