// What log rows say of channels and tokens beside the traffic sums: attempts that failed at each channel,
// also of calls that another channel served then, and when each token was last used. Complete segments
// are stored, the rows after them are read.
import { type Kysely, sql } from 'kysely'
import { readRequestDetail } from '../../contract/former-names.ts'
import type { Attempt, RequestDetail } from '../../contract/requests.ts'
import type { Dialect, Schema } from '../schema.ts'
import { insertColumns } from '../sql/bulk-columns.ts'
import { type LogGroup, retryField, retryPattern } from './groups.ts'
import { indexedSeq, watermarkKey } from './watermark.ts'

const hourMs = 3_600_000
/** Rows after the last segment that are read at most. */
const maxTailRows = 100_000

export interface LogFacts {
  /** By hour and channel. */
  failed: Map<string, FailedAttempts>
  usedMs: Map<string, number>
}

interface FailedAttempts {
  hourMs: number
  channel: string
  failed: number
}

export function usesIn(groups: readonly LogGroup[]): LogFacts['usedMs'] {
  const usedMs = new Map<string, number>()
  for (const { tokenId, untilMs } of groups) {
    if (untilMs > (usedMs.get(tokenId) ?? 0)) usedMs.set(tokenId, untilMs)
  }
  return usedMs
}

interface Details {
  failed: LogFacts['failed']
  /** Rows that are retries of clients, in order. */
  retries: number[]
}

/** Both bounds included. In one scan: details are the largest part of a row. */
export async function readDetails(
  db: Kysely<Schema>,
  from: number,
  upTo: number,
): Promise<Details> {
  // Few rows have an error or are retries; only those leave the database.
  const { rows } = await sql<{ seq: number; at_ms: number; detail: string }>`
    SELECT seq, at_ms, detail FROM requests WHERE seq >= ${from} AND seq <= ${upTo}
      AND (detail LIKE '%"error":%' OR detail LIKE ${retryPattern}) ORDER BY seq`.execute(db)
  const failed: LogFacts['failed'] = new Map()
  const retries: number[] = []
  for (const { seq, at_ms, detail } of rows) {
    if (detail.includes(retryField)) retries.push(seq)
    const hour = at_ms - (at_ms % hourMs)
    for (const { channel } of failedIn(readRequestDetail(detail))) {
      const name = `${hour} ${channel}`
      const known = failed.get(name) ?? { hourMs: hour, channel, failed: 0 }
      known.failed++
      failed.set(name, known)
    }
  }
  return { failed, retries }
}

/** Statuses below 500 that the caller is not to blame for. */
const channelStatuses = new Set([401, 403, 404, 408, 429])

function failedIn({ attempts, ending }: RequestDetail): Attempt[] {
  // The attempt that ran when the caller left says nothing of the channel.
  const judged = ending === 'caller_left' ? attempts.slice(0, -1) : attempts
  return judged.filter(
    ({ error, status }) =>
      error !== undefined && (status === undefined || status >= 500 || channelStatuses.has(status)),
  )
}

/** Once for each row of the log. */
export async function writeFacts(
  tx: Kysely<Schema>,
  dialect: Dialect,
  { failed, usedMs }: LogFacts,
): Promise<void> {
  await insertColumns(tx, dialect, {
    table: 'failed_attempts',
    columns: ['hour_ms', 'channel', 'failed'],
    values: [...failed.values()].flatMap((each) => [each.hourMs, each.channel, each.failed]),
    ending:
      'ON CONFLICT (hour_ms, channel) DO UPDATE SET failed = failed_attempts.failed + excluded.failed',
  })
  await insertColumns(tx, dialect, {
    table: 'token_uses',
    columns: ['token_id', 'last_ms'],
    values: [...usedMs].toSorted(([a], [b]) => (a < b ? -1 : 1)).flat(),
    ending: `ON CONFLICT (token_id) DO UPDATE SET last_ms = CASE
      WHEN excluded.last_ms > token_uses.last_ms THEN excluded.last_ms ELSE token_uses.last_ms END`,
  })
}

/** Attempts that failed in these whole hours. */
export async function listFailedAttempts(
  db: Kysely<Schema>,
  { fromMs, untilMs }: { fromMs: number; untilMs: number },
): Promise<FailedAttempts[]> {
  // One statement, hence one moment: the sums, and the log row up to which they go.
  const { rows } = await sql<{
    indexed: string | null
    hour_ms: number | null
    channel: string
    failed: number
  }>`
    SELECT m.indexed, f.hour_ms, f.channel, f.failed FROM (
      SELECT (SELECT value FROM meta WHERE key = ${watermarkKey}) AS indexed
    ) AS m LEFT JOIN failed_attempts AS f
      ON f.hour_ms >= ${fromMs} AND f.hour_ms < ${untilMs}`.execute(db)
  const indexed = Number(rows[0]?.indexed ?? '0')
  const { failed: tail } = await readDetails(db, indexed + 1, indexed + maxTailRows)
  for (const { hour_ms, channel, failed } of rows) {
    if (hour_ms === null) continue
    const name = `${hour_ms} ${channel}`
    const known = tail.get(name) ?? { hourMs: hour_ms, channel, failed: 0 }
    tail.set(name, { ...known, failed: known.failed + failed })
  }
  return [...tail.values()].filter((each) => each.hourMs >= fromMs && each.hourMs < untilMs)
}

/** When each of these tokens was last used; those that were not are left out. */
export async function lastUses(
  db: Kysely<Schema>,
  tokenIds: readonly string[],
): Promise<Map<string, number>> {
  if (tokenIds.length === 0) return new Map()
  // Read first: a row that is indexed meanwhile is found twice rather than missed.
  const indexed = await indexedSeq(db)
  const { rows } = await sql<{ token_id: string; last_ms: number }>`
    SELECT token_id, last_ms FROM token_uses WHERE token_id IN (${sql.join(tokenIds)})
    UNION ALL
    SELECT token_id, max(at_ms) AS last_ms FROM requests
    WHERE seq > ${indexed} AND seq <= ${indexed + maxTailRows} GROUP BY token_id`.execute(db)
  const uses = new Map<string, number>()
  for (const { token_id, last_ms } of rows) {
    if (last_ms > (uses.get(token_id) ?? 0)) uses.set(token_id, last_ms)
  }
  return uses
}
