// Rows of the request log that pass a filter, by their own columns.
import type { Kysely } from 'kysely'
import { endUserName } from '../../contract/tags/index.ts'
import type { Schema } from '../schema.ts'
import { hasPair } from '../sql/tag-texts.ts'
import { retryPattern } from './groups.ts'
import type { LogFilter } from './search.ts'
import type { RowField } from './segments.ts'

/** Bounds that rows are known to have; they only limit the number of partitions that are read. */
export interface Ids {
  from_id: string
  until_id: string
}

export function matchingRows(
  db: Kysely<Schema>,
  { values, status, fromId, toId }: LogFilter,
  ids?: Ids,
) {
  // A charged call that was kept for the ledger only has no detail.
  let query = db.selectFrom('requests').selectAll().where('detail', '<>', '')
  const { tag, end_user: endUser, retry, ...plain } = values
  for (const [field, value] of Object.entries(plain)) {
    query = query.where(columnOf[field as RowField], '=', value)
  }
  if (status !== undefined) {
    query = query.where('status', '>=', status.from).where('status', '<=', status.to)
  }
  if (tag !== undefined) query = query.where(hasPair(String(tag)))
  if (endUser !== undefined) query = query.where(hasPair(`${endUserName}=${endUser}`))
  if (retry !== undefined) query = query.where('detail', 'like', retryPattern)
  const from = larger(fromId, ids?.from_id)
  if (from !== undefined) query = query.where('request_id', '>=', from)
  if (toId !== undefined) query = query.where('request_id', '<', toId)
  if (ids !== undefined) query = query.where('request_id', '<=', ids.until_id)
  return query
}

const columnOf = {
  account: 'account_id',
  token: 'token_id',
  model: 'model',
  channel: 'channel',
  status: 'status',
  error_code: 'error_code',
} as const satisfies Record<RowField, keyof Schema['requests']>

const larger = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || (b !== undefined && b > a) ? b : a
