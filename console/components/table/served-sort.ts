// Columns by which the server sorts, over all rows: for them a part of a list has an order.
import type { Query } from '../../lib/api.ts'
import { useQueryValue } from '../../lib/router.tsx'

/** In the address: the column, with `-` before it if the largest comes first. */
export const sortName = 'sort'

/** The names of columns, each with what the admin API calls it. */
export type ServedColumns = Readonly<Record<string, string>>

/** What the list is asked for, as the address has it. */
export function useServedSort(served: ServedColumns): Query {
  const [text = ''] = useQueryValue(sortName)
  const by = served[text.replace(/^-/, '')]
  return by === undefined ? {} : { sort: by, order: text.startsWith('-') ? 'desc' : 'asc' }
}
