// Reads of the request log; its rows are written by the hot path only.
import { type Kysely, type Selectable, sql } from 'kysely'
import type { Interface } from '../contract/catalog.ts'
import type { RequestDetail, RequestRecord } from '../contract/requests.ts'
import { numberCursor, type Page, type PageQuery, pageOf } from './cursor.ts'
import { watermarkKey } from './late-index.ts'
import type { Schema } from './schema.ts'

/** By the gateway's id or an upstream's, which several requests may share. Oldest first. */
export async function findRequest(db: Kysely<Schema>, anyId: string): Promise<RequestRecord[]> {
  const own = await db.selectFrom('requests').selectAll().where('request_id', '=', anyId).execute()
  if (own.length > 0) return own.map(shape)
  // One statement, so that the index cannot move on between looking into it and behind it.
  const { rows } = await sql<Selectable<Schema['requests']>>`
    WITH RECURSIVE segments(n) AS (
      SELECT min(segment) FROM upstream_ids
      UNION ALL
      SELECT n + 1 FROM segments WHERE n < (SELECT max(segment) FROM upstream_ids)
    )
    SELECT * FROM requests WHERE seq IN (
      SELECT u.seq FROM segments JOIN upstream_ids u
        ON u.segment = segments.n AND u.upstream_request_id = ${anyId}
      UNION ALL
      SELECT r.seq FROM requests r WHERE r.upstream_request_id = ${anyId} AND r.seq >
        coalesce((SELECT CAST(value AS bigint) FROM meta WHERE key = ${watermarkKey}), 0)
    ) ORDER BY seq`.execute(db)
  return rows.map(shape)
}

export interface RequestFilter extends PageQuery {
  accountId?: string | undefined
  tokenId?: string | undefined
  model?: string | undefined
  channel?: string | undefined
  status?: number | undefined
  errorCode?: string | undefined
  /** From this moment on. */
  fromMs?: number | undefined
  /** Before this moment. */
  toMs?: number | undefined
}

/** Newest first. */
export async function listRequests(
  db: Kysely<Schema>,
  filter: RequestFilter,
): Promise<Page<RequestRecord>> {
  const { limit, cursor, accountId, tokenId, model, channel, status, errorCode } = filter
  let query = db
    .selectFrom('requests')
    .selectAll()
    .orderBy('seq', 'desc')
    .limit(limit + 1)
  if (cursor !== undefined) query = query.where('seq', '<', numberCursor(cursor))
  if (accountId !== undefined) query = query.where('account_id', '=', accountId)
  if (tokenId !== undefined) query = query.where('token_id', '=', tokenId)
  if (model !== undefined) query = query.where('model', '=', model)
  if (channel !== undefined) query = query.where('channel', '=', channel)
  if (status !== undefined) query = query.where('status', '=', status)
  if (errorCode !== undefined) query = query.where('error_code', '=', errorCode)
  // Request ids begin with their time, and they have an index where at_ms has none.
  if (filter.fromMs !== undefined) query = query.where('request_id', '>=', firstId(filter.fromMs))
  if (filter.toMs !== undefined) query = query.where('request_id', '<', firstId(filter.toMs))
  return pageOf(await query.execute(), limit, (row) => row.seq, shape)
}

const firstId = (atMs: number) =>
  `req_${Math.max(0, Math.ceil(atMs)).toString(16).padStart(12, '0')}`

function shape(row: Selectable<Schema['requests']>): RequestRecord {
  const record: RequestRecord = {
    requestId: row.request_id,
    atMs: row.at_ms,
    accountId: row.account_id,
    tokenId: row.token_id,
    interface: row.interface as Interface,
    model: row.model,
    status: row.status,
    chargeNanos: row.charge_nanos,
    totalMs: row.total_ms,
    detail: JSON.parse(row.detail) as RequestDetail,
  }
  if (row.channel !== null) record.channel = row.channel
  if (row.upstream_request_id !== null) record.upstreamRequestId = row.upstream_request_id
  if (row.error_code !== null) record.errorCode = row.error_code
  if (row.price_id !== null) record.priceId = row.price_id
  if (row.first_byte_ms !== null) record.firstByteMs = row.first_byte_ms
  if (row.input_tokens !== null) {
    record.usage = {
      inputTokens: row.input_tokens,
      outputTokens: row.output_tokens ?? 0,
      cacheReadTokens: row.cache_read_tokens ?? 0,
      cacheWriteTokens: row.cache_write_tokens ?? 0,
    }
  }
  return record
}
