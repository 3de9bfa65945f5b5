// A range of the request log for background work: rows with equal dimensions form one group, summed
// by the database, so that neither threads nor drivers handle single rows.
import { type Kysely, sql } from 'kysely'
import { noTraffic, type TrafficSums, tookBounds } from '../../contract/traffic.ts'
import type { Schema } from '../schema.ts'

/** The shortest span for which traffic is stored. */
export const slotMs = 300_000

/** Texts inside of JSON have their quotes escaped: only the field itself is like this. */
export const retryField = '"clientRetry":'
export const retryPattern = `%${retryField}%`

export interface LogGroup {
  slotMs: number
  accountId: string
  tokenId: string
  interface: string
  model: string
  channel: string
  status: number
  errorCode: string
  sums: TrafficSums
  /** The rows of the group, unordered. */
  seqs: number[]
  /** Their lowest and highest ids, and the latest time. */
  fromId: string
  untilId: string
  untilMs: number
}

interface GroupRow {
  slot: number
  account_id: string
  token_id: string
  interface: string
  model: string
  channel: string
  status: number
  error_code: string
  took: number
  requests: number
  total_ms: number
  first_bytes: number
  first_byte_ms: number
  charge_nanos: bigint
  input_tokens: number
  cache_read_tokens: number
  seqs: string
  from_id: string
  until_id: string
  until_ms: number
}

const tookCase = tookBounds.map((bound, i) => `WHEN total_ms <= ${bound} THEN ${i}`).join(' ')
const columns = sql.raw(`
  at_ms - at_ms % ${slotMs} AS slot, account_id, token_id, interface, model,
  coalesce(channel, '') AS channel, status, coalesce(error_code, '') AS error_code,
  CASE ${tookCase} ELSE ${tookBounds.length} END AS took,
  count(*) AS requests,
  CAST(sum(total_ms) AS bigint) AS total_ms,
  count(first_byte_ms) AS first_bytes,
  CAST(coalesce(sum(first_byte_ms), 0) AS bigint) AS first_byte_ms,
  CAST(sum(charge_nanos) AS bigint) AS charge_nanos,
  CAST(coalesce(sum(input_tokens), 0) AS bigint) AS input_tokens,
  CAST(coalesce(sum(cache_read_tokens), 0) AS bigint) AS cache_read_tokens,
  string_agg(CAST(seq AS text), ' ') AS seqs,
  min(request_id) AS from_id, max(request_id) AS until_id, max(at_ms) AS until_ms`)

/** Both bounds included. `retries`: the rows among them that are retries of clients. */
export async function readLogGroups(
  db: Kysely<Schema>,
  from: number,
  upTo: number,
  retries: readonly number[],
): Promise<LogGroup[]> {
  const { rows } = await sql<GroupRow>`
    SELECT ${columns} FROM requests WHERE seq >= ${from} AND seq <= ${upTo}
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9`.execute(db)
  const groups = rows.map(groupOf)
  if (retries.length === 0) return groups
  const repeated = new Set(retries)
  for (const { sums, seqs } of groups) {
    sums.retries = seqs.filter((seq) => repeated.has(seq)).length
  }
  return groups
}

/** Retries of clients, both bounds included. */
export async function readRetries(
  db: Kysely<Schema>,
  from: number,
  upTo: number,
): Promise<number[]> {
  const { rows } = await sql<{ seq: number }>`
    SELECT seq FROM requests
    WHERE seq >= ${from} AND seq <= ${upTo} AND detail LIKE ${retryPattern} ORDER BY seq`.execute(
    db,
  )
  return rows.map(({ seq }) => seq)
}

/** Rows with tags, both bounds included. Not by group: nearly each row may have its own. */
export async function readTagged(
  db: Kysely<Schema>,
  from: number,
  upTo: number,
): Promise<{ seq: number; tags: string }[]> {
  const { rows } = await sql<{ seq: number; tags: string }>`
    SELECT seq, tags FROM requests
    WHERE seq >= ${from} AND seq <= ${upTo} AND tags IS NOT NULL ORDER BY seq`.execute(db)
  return rows
}

function groupOf(row: GroupRow): LogGroup {
  const sums = noTraffic()
  sums.requests = row.requests
  sums.totalMs = row.total_ms
  sums.firstBytes = row.first_bytes
  sums.firstByteMs = row.first_byte_ms
  sums.chargeNanos = row.charge_nanos
  sums.inputTokens = row.input_tokens
  sums.cacheReadTokens = row.cache_read_tokens
  sums.took[row.took] = row.requests
  return {
    slotMs: row.slot,
    accountId: row.account_id,
    tokenId: row.token_id,
    interface: row.interface,
    model: row.model,
    channel: row.channel,
    status: row.status,
    errorCode: row.error_code,
    sums,
    seqs: row.seqs.split(' ').map(Number),
    fromId: row.from_id,
    untilId: row.until_id,
    untilMs: row.until_ms,
  }
}
