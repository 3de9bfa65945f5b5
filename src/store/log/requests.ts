// Reads of the request log; its rows are written by the hot path only.
import { type Kysely, type Selectable, sql } from 'kysely'
import type { Interface } from '../../contract/catalog.ts'
import { readRequestDetail } from '../../contract/former-names.ts'
import type { RequestRecord } from '../../contract/requests.ts'
import { endUserText } from '../../contract/tags/index.ts'
import type { StatusRange } from '../../contract/traffic.ts'
import type { Schema } from '../schema.ts'
import { cursorAt, numberCursor, type Page, type PageQuery } from '../sql/cursor.ts'
import { firstId } from './ids.ts'
import { pageOfLog } from './pages.ts'
import type { LogFilter } from './search.ts'
import { retryValue } from './segments.ts'
import { sortedPageOfLog } from './sorted-pages.ts'
import type { LogSort } from './sorted-places.ts'
import { indexedSeq } from './watermark.ts'

/** By the gateway's id or an upstream's, which several requests may share. Oldest first. */
export async function findRequest(db: Kysely<Schema>, anyId: string): Promise<RequestRecord[]> {
  // PostgreSQL rejects such text, and no id contains it.
  if (anyId.includes('\0')) return []
  const own = await rowsOf(db).where('request_id', '=', anyId).execute()
  if (own.length > 0) return own.map(shape)
  // Read first: rows indexed meanwhile are found twice rather than missed.
  const indexed = await indexedSeq(db)
  const { rows } = await sql<{ seq: number }>`
    WITH RECURSIVE segments(n) AS (
      SELECT min(segment) FROM upstream_ids
      UNION ALL
      SELECT n + 1 FROM segments WHERE n < (SELECT max(segment) FROM upstream_ids)
    )
    SELECT u.seq FROM segments JOIN upstream_ids u
      ON u.segment = segments.n AND u.upstream_request_id = ${anyId}
    UNION
    SELECT r.seq FROM requests r
      WHERE r.upstream_request_id = ${anyId} AND r.seq > ${indexed}
    LIMIT ${maxByOneId}`.execute(db)
  const [first, ...others] = rows.map(({ seq }) => seq)
  if (first === undefined) return []
  const found = rowsOf(db).where('seq', 'in', [first, ...others])
  return (await found.orderBy('seq').execute()).map(shape)
}

/** Without charged calls that were kept for the ledger only. */
const rowsOf = (db: Kysely<Schema>) =>
  db.selectFrom('requests').selectAll().where('detail', '<>', '')

/** An upstream that gives every request the same id is not searched by it. */
const maxByOneId = 500

export interface RequestFilter extends PageQuery {
  accountId?: string | undefined
  tokenId?: string | undefined
  model?: string | undefined
  channel?: string | undefined
  status?: StatusRange | undefined
  errorCode?: string | undefined
  /** `team=red` */
  tag?: string | undefined
  /** As the account keeps it. */
  endUser?: string | undefined
  /** Only retries of clients. */
  isRetry?: boolean | undefined
  /** From this moment on. */
  fromMs?: number | undefined
  /** Before this moment. */
  toMs?: number | undefined
  /** Else the newest comes first. */
  sort?: LogSort | undefined
  /** With `sort`: the smallest, or the oldest, comes first. */
  isRising?: boolean | undefined
}

/** Newest first, or as asked. A page may be short, even empty, and still have a next one. */
export async function listRequests(
  db: Kysely<Schema>,
  filter: RequestFilter,
): Promise<Page<RequestRecord>> {
  const { limit, cursor, fromMs, toMs, status } = filter
  const values = wantedValues(filter)
  // PostgreSQL rejects such text; no row contains it.
  if (Object.values(values).some((value) => String(value).includes('\0'))) return { items: [] }
  // Request ids begin with their time, and so do the bounds of segments and partitions.
  const fromId = fromMs === undefined ? undefined : firstId(fromMs)
  const toId = toMs === undefined ? undefined : firstId(toMs)
  const wanted = { values, status, fromId, toId }
  const { sort = 'time', isRising = false } = filter
  if (sort !== 'time' || isRising) {
    const sorted = await sortedPageOfLog(db, { filter: wanted, sort, isRising, limit, cursor })
    return { ...sorted, items: sorted.items.map(shape) }
  }
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : numberCursor(cursor)
  const page = await pageOfLog(db, { filter: wanted, limit, before })
  const items = page.rows.map(shape)
  return page.before === undefined ? { items } : { items, nextCursor: cursorAt(page.before) }
}

function wantedValues(filter: RequestFilter): LogFilter['values'] {
  const { accountId, tokenId, model, channel, errorCode, tag, endUser, isRetry } = filter
  return {
    ...(accountId !== undefined && { account: accountId }),
    ...(tokenId !== undefined && { token: tokenId }),
    ...(model !== undefined && { model }),
    ...(channel !== undefined && { channel }),
    ...(errorCode !== undefined && { error_code: errorCode }),
    ...(tag !== undefined && { tag }),
    ...(isRetry && { retry: retryValue }),
    ...(endUser !== undefined && { end_user: endUserText(endUser) }),
  }
}

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
    detail: readRequestDetail(row.detail),
  }
  if (row.channel !== null) record.channel = row.channel
  if (row.upstream_request_id !== null) record.upstreamRequestId = row.upstream_request_id
  if (row.error_code !== null) record.errorCode = row.error_code
  if (row.price_id !== null) record.priceId = row.price_id
  if (row.tags !== null) record.tags = row.tags
  if (row.cost_nanos !== 0n) record.costNanos = row.cost_nanos
  if (row.first_byte_ms !== null) record.firstByteMs = row.first_byte_ms
  if (row.input_tokens !== null) {
    record.usage = {
      inputTokens: row.input_tokens,
      outputTokens: row.output_tokens ?? 0,
      cacheReadTokens: row.cache_read_tokens ?? 0,
      cacheWriteTokens: row.cache_write_tokens ?? 0,
      ...(record.detail.toolCalls !== undefined && { toolCalls: record.detail.toolCalls }),
      ...(record.detail.parts !== undefined && { parts: record.detail.parts }),
      ...(record.detail.others !== undefined && { others: record.detail.others }),
    }
  }
  // By tokens the counts say it all.
  if (row.unit !== null && row.unit !== 'token') {
    record.charge = { unit: row.unit, quantity: row.quantity ?? 0 }
  }
  return record
}
