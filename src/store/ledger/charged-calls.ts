// The usage that charged calls were charged for, by their ids.
import type { Kysely } from 'kysely'
import { readRequestDetail } from '../../contract/former-names.ts'
import type { RequestDetail } from '../../contract/requests.ts'
import type { TokenCounts } from '../../contract/usage.ts'
import type { Schema } from '../schema.ts'

export interface ChargedCall extends Pick<RequestDetail, 'parts' | 'others' | 'applied'> {
  atMs: number
  counts: TokenCounts
}

/** Those that have it on record. */
export async function findChargedCalls(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<Map<string, ChargedCall>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('requests')
    .select(['request_id', 'at_ms', 'detail', 'input_tokens', 'output_tokens'])
    .select(['cache_read_tokens', 'cache_write_tokens'])
    .where('request_id', 'in', ids)
    .where('input_tokens', 'is not', null)
    .execute()
  return new Map(
    rows.map((row) => {
      const { parts, others, applied } = readRequestDetail(row.detail || '{}')
      const call: ChargedCall = {
        atMs: row.at_ms,
        counts: {
          inputTokens: row.input_tokens ?? 0,
          outputTokens: row.output_tokens ?? 0,
          cacheReadTokens: row.cache_read_tokens ?? 0,
          cacheWriteTokens: row.cache_write_tokens ?? 0,
        },
      }
      if (parts !== undefined) call.parts = parts
      if (others !== undefined) call.others = others
      if (applied !== undefined) call.applied = applied
      return [row.request_id, call]
    }),
  )
}
