// The integer convention, applied to rows of a dialect that returns every integer as bigint:
// `*_nanos` stays bigint, the rest become numbers.
import type { KyselyPlugin, QueryResult, UnknownRow } from 'kysely'

/** Mutates the rows: they were created for this result and are not shared. */
export function shapeIntegers(rows: Record<string, unknown>[]): void {
  const first = rows[0]
  if (first === undefined) return
  const plain = Object.keys(first).filter((name) => !name.endsWith('_nanos'))
  for (const row of rows) {
    for (const name of plain) {
      const value = row[name]
      if (typeof value === 'bigint') row[name] = Number(value)
    }
  }
}

export const integerPlugin: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  transformResult: async ({ result }): Promise<QueryResult<UnknownRow>> => {
    shapeIntegers(result.rows)
    return result
  },
}
