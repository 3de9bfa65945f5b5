// Whether a column has a text in it, whatever the case of its Latin letters: of others the databases know no
// case. Both dialects spell it alike.
import { type RawBuilder, type SqlBool, sql } from 'kysely'

export const contains = (column: string, text: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`(lower(${sql.ref(column)}) LIKE ${`%${literal(text.toLowerCase())}%`} ESCAPE '!'
    OR ${sql.ref(column)} LIKE ${`%${literal(text)}%`} ESCAPE '!')`

/** The signs that LIKE reads as patterns stand for themselves. */
const literal = (text: string): string => text.replaceAll(/[!%_]/g, '!$&')
