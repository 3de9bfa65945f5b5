// Finished stretches of the request log: what each contains, written once and for good when no more
// rows can come into it. One transaction writes all of a segment: the ids upstreams gave, where each
// value stands, what it adds to the traffic, and the mark up to which this was done.
import { type Kysely, sql } from 'kysely'
import { insertColumns } from './bulk-columns.ts'
import { packHits, segmentRows } from './log-hits.ts'
import { type LogRow, readLogRows } from './log-rows.ts'
import { getMeta, setMeta } from './meta.ts'
import type { Engine, Schema } from './schema.ts'
import { TrafficTally, writeTraffic } from './traffic-sums.ts'

/** Up to this row of the log, finished segments tell what there is. */
export const watermarkKey = 'upstream_ids_seq'

export const segmentOf = (seq: number): number => Math.floor(seq / segmentRows)
export const firstSeqOf = (segment: number): number => segment * segmentRows
export const lastSeqOf = (segment: number): number => firstSeqOf(segment + 1) - 1

export const indexedSeq = async (db: Kysely<Schema>): Promise<number> =>
  Number((await getMeta(db, watermarkKey)) ?? '0')

/** What a list can be narrowed down by. */
export const logFields = ['account', 'token', 'model', 'channel', 'status', 'error_code'] as const
export type LogField = (typeof logFields)[number]

/** PostgreSQL has no longer keys; who asks looks at the rows as well. */
const maxValueLength = 200
/** A longer one is no id that anybody would look for. */
const maxUpstreamIdLength = 512
export const valueKey = (value: string): string => value.slice(0, maxValueLength)

const valuesOf: Readonly<Record<LogField, (row: LogRow) => string>> = {
  account: (row) => row.accountId,
  token: (row) => row.tokenId,
  model: (row) => valueKey(row.model),
  channel: (row) => row.channel,
  status: (row) => String(row.status),
  error_code: (row) => row.errorCode,
}

/** Rows read at once: enough to be worth a question, few enough that nobody notices the sums. */
const rowsAtOnce = 1_024

export interface GatheredSegment {
  segment: number
  /** The mark it goes on from; another one means that somebody else was faster. */
  after: number
  rows: number
  fromId: string
  untilId: string
  untilMs: number
  places: ReadonlyMap<LogField, Map<string, number[]>>
  traffic: TrafficTally
}

/** The next finished segment up to this row; undefined when there is none. */
export async function gatherSegment(
  read: <T>(work: (db: Kysely<Schema>) => Promise<T>) => Promise<T>,
  settledSeq: number,
): Promise<GatheredSegment | undefined> {
  const next = await read(async (db) => {
    const after = await indexedSeq(db)
    const seq = await firstSeqAfter(db, after)
    return seq === undefined ? undefined : { after, segment: segmentOf(seq) }
  })
  if (next === undefined || lastSeqOf(next.segment) > settledSeq) return undefined
  const gathered = {
    ...next,
    rows: 0,
    fromId: '',
    untilId: '',
    untilMs: 0,
    places: new Map(logFields.map((field) => [field, new Map<string, number[]>()])),
    traffic: new TrafficTally(),
  }
  const last = lastSeqOf(next.segment)
  for (let from = firstSeqOf(next.segment); from <= last; from += rowsAtOnce) {
    const upTo = from + rowsAtOnce - 1
    for (const row of await read((db) => readLogRows(db, from, upTo))) take(gathered, row)
  }
  return gathered
}

async function firstSeqAfter(db: Kysely<Schema>, seq: number): Promise<number | undefined> {
  const { rows } = await sql<{ seq: number }>`
    SELECT seq FROM requests WHERE seq > ${seq} ORDER BY seq LIMIT 1`.execute(db)
  return rows[0]?.seq
}

function take(gathered: GatheredSegment, row: LogRow): void {
  const { requestId } = row
  if (gathered.rows === 0 || requestId < gathered.fromId) gathered.fromId = requestId
  if (requestId > gathered.untilId) gathered.untilId = requestId
  gathered.untilMs = Math.max(gathered.untilMs, row.atMs)
  gathered.rows++
  const place = row.seq - firstSeqOf(gathered.segment)
  for (const field of logFields) {
    const value = valuesOf[field](row)
    if (value === '') continue
    const values = gathered.places.get(field)!
    const places = values.get(value)
    if (places === undefined) values.set(value, [place])
    else places.push(place)
  }
  gathered.traffic.add(row)
}

/** False, and nothing is written, when it has been written meanwhile. */
export async function writeSegment(
  tx: Kysely<Schema>,
  engine: Engine,
  gathered: GatheredSegment,
): Promise<boolean> {
  if ((await indexedSeq(tx)) !== gathered.after) return false
  const { segment } = gathered
  await indexUpstreamIds(tx, segment)
  const columns = ['segment', 'field', 'value', 'hits']
  const values: unknown[] = []
  // In the order of the key: the table then only grows at its end.
  for (const field of logFields.toSorted()) {
    const places = gathered.places.get(field)!
    for (const value of [...places.keys()].sort()) {
      values.push(segment, field, value, packHits(places.get(value)!))
    }
  }
  await insertColumns(tx, engine, { table: 'log_values', columns, values })
  const { rows: row_count, fromId: from_id, untilId: until_id, untilMs: until_ms } = gathered
  await tx
    .insertInto('log_segments')
    .values({ segment, row_count, from_id, until_id, until_ms })
    .execute()
  await writeTraffic(tx, engine, gathered.traffic)
  await setMeta(tx, watermarkKey, String(lastSeqOf(segment)))
  return true
}

/** Sorted, and inside the engine: no id travels through this process. */
async function indexUpstreamIds(tx: Kysely<Schema>, segment: number): Promise<void> {
  await sql`
    INSERT INTO upstream_ids (segment, upstream_request_id, seq)
    SELECT CAST(${segment} AS bigint), upstream_request_id, seq FROM requests
    WHERE seq >= ${firstSeqOf(segment)} AND seq <= ${lastSeqOf(segment)}
      AND length(upstream_request_id) <= ${maxUpstreamIdLength}
    ORDER BY upstream_request_id, seq
    ON CONFLICT DO NOTHING`.execute(tx)
}
