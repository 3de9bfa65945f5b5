// Complete segments of the request log: what each contains, written once when no more rows can
// enter it. One transaction writes all of a segment: the upstream ids, the posting lists, its
// traffic sums, its facts, its figures and the watermark.
import { type Kysely, sql } from 'kysely'
import { endUserName, pairsIn } from '../../contract/tags/index.ts'
import type { Dialect, Schema } from '../schema.ts'
import { insertColumns } from '../sql/bulk-columns.ts'
import { setMeta } from '../sql/meta.ts'
import { type LogFacts, readDetails, usesIn, writeFacts } from './facts.ts'
import { type FigureColumn, gatherFigures, writeFigures } from './figures.ts'
import { type LogGroup, readLogGroups, readTagged } from './groups.ts'
import { packHits, segmentRows } from './posting-list.ts'
import { TrafficTally, writeTraffic } from './traffic-sums.ts'
import { indexedSeq, watermarkKey } from './watermark.ts'

export const segmentOf = (seq: number): number => Math.floor(seq / segmentRows)
export const firstSeqOf = (segment: number): number => segment * segmentRows
export const lastSeqOf = (segment: number): number => firstSeqOf(segment + 1) - 1

/** Fields by which a list can be filtered. */
const rowFields = ['account', 'token', 'model', 'channel', 'status', 'error_code'] as const
/** Of which a row has none, one or several values. */
const tagFields = ['tag', 'end_user'] as const
const logFields = [...rowFields, ...tagFields, 'retry'] as const
export type RowField = (typeof rowFields)[number]
export type LogField = (typeof logFields)[number]

/** The one value of `retry`; rows that are none have none. */
export const retryValue = 'true'

/** PostgreSQL limits the key length; readers compare the rows as well. */
const maxValueLength = 200
/** A longer one is not an id worth searching for. */
const maxUpstreamIdLength = 512
export const valueKey = (value: string): string => value.slice(0, maxValueLength)

const valuesOf: Readonly<Record<RowField, (group: LogGroup) => string>> = {
  account: ({ accountId }) => accountId,
  token: ({ tokenId }) => tokenId,
  model: ({ model }) => valueKey(model),
  channel: ({ channel }) => channel,
  status: ({ status }) => String(status),
  error_code: ({ errorCode }) => errorCode,
}

interface GatheredSegment {
  segment: number
  rows: number
  fromId: string
  untilId: string
  untilMs: number
  places: ReadonlyMap<LogField, Map<string, number[]>>
  traffic: TrafficTally
  facts: LogFacts
  figures: readonly FigureColumn[]
}

/** The next complete segment, if all rows up to this one exist; undefined when there is none. */
export async function nextSegment(
  db: Kysely<Schema>,
  settledSeq: number,
): Promise<number | undefined> {
  const seq = await firstSeqAfter(db, await indexedSeq(db))
  if (seq === undefined) return undefined
  const segment = segmentOf(seq)
  return lastSeqOf(segment) > settledSeq ? undefined : segment
}

export async function gatherSegment(db: Kysely<Schema>, segment: number): Promise<GatheredSegment> {
  const [from, upTo] = [firstSeqOf(segment), lastSeqOf(segment)]
  const { failed, retries } = await readDetails(db, from, upTo)
  const groups = await readLogGroups(db, from, upTo, retries)
  const gathered: GatheredSegment = {
    segment,
    rows: 0,
    fromId: '',
    untilId: '',
    untilMs: 0,
    places: new Map(logFields.map((field) => [field, new Map<string, number[]>()])),
    traffic: new TrafficTally(),
    facts: { failed, usedMs: usesIn(groups) },
    figures: await gatherFigures(db, segment),
  }
  for (const group of groups) take(gathered, group)
  const tagged = await readTagged(db, from, upTo)
  for (const { seq, tags } of tagged) takeTags(gathered, seq, tags)
  const places = retries.map((seq) => seq - from)
  if (places.length > 0) addPlaces(gathered, 'retry', retryValue, places)
  return gathered
}

async function firstSeqAfter(db: Kysely<Schema>, seq: number): Promise<number | undefined> {
  const { rows } = await sql<{ seq: number }>`
    SELECT seq FROM requests WHERE seq > ${seq} ORDER BY seq LIMIT 1`.execute(db)
  return rows[0]?.seq
}

function take(gathered: GatheredSegment, group: LogGroup): void {
  const { fromId, untilId, untilMs, seqs } = group
  if (gathered.rows === 0 || fromId < gathered.fromId) gathered.fromId = fromId
  if (untilId > gathered.untilId) gathered.untilId = untilId
  gathered.untilMs = Math.max(gathered.untilMs, untilMs)
  gathered.rows += seqs.length
  const first = firstSeqOf(gathered.segment)
  const places = seqs.map((seq) => seq - first)
  for (const field of rowFields) addPlaces(gathered, field, valuesOf[field](group), places)
  gathered.traffic.add(group)
}

function takeTags(gathered: GatheredSegment, seq: number, tags: string): void {
  const places = [seq - firstSeqOf(gathered.segment)]
  for (const [name, value] of pairsIn(tags)) {
    if (name === endUserName) addPlaces(gathered, 'end_user', valueKey(value), places)
    else addPlaces(gathered, 'tag', `${name}=${value}`, places)
  }
}

function addPlaces(
  gathered: GatheredSegment,
  field: LogField,
  value: string,
  places: readonly number[],
): void {
  if (value === '') return
  const values = gathered.places.get(field)!
  const others = values.get(value)
  if (others === undefined) values.set(value, places.slice())
  else for (const place of places) others.push(place)
}

/** Must run in the transaction that found the segment. */
export async function writeSegment(
  tx: Kysely<Schema>,
  dialect: Dialect,
  gathered: GatheredSegment,
): Promise<void> {
  const { segment } = gathered
  await indexUpstreamIds(tx, segment)
  const columns = ['segment', 'field', 'value', 'hits']
  const values: unknown[] = []
  // In key order: the table then only grows at its end.
  for (const field of logFields.toSorted()) {
    const places = gathered.places.get(field)!
    for (const value of [...places.keys()].sort()) {
      values.push(segment, field, value, packHits(places.get(value)!))
    }
  }
  await insertColumns(tx, dialect, { table: 'log_values', columns, values })
  const { rows: row_count, fromId: from_id, untilId: until_id, untilMs: until_ms } = gathered
  await tx
    .insertInto('log_segments')
    .values({ segment, row_count, from_id, until_id, until_ms })
    .execute()
  await writeTraffic(tx, dialect, gathered.traffic)
  await writeFacts(tx, dialect, gathered.facts)
  await writeFigures(tx, dialect, gathered.figures)
  await setMeta(tx, watermarkKey, String(lastSeqOf(segment)))
}

/** Sorted, and inside the database: no id passes through this process. */
async function indexUpstreamIds(tx: Kysely<Schema>, segment: number): Promise<void> {
  await sql`
    INSERT INTO upstream_ids (segment, upstream_request_id, seq)
    SELECT CAST(${segment} AS bigint), upstream_request_id, seq FROM requests
    WHERE seq >= ${firstSeqOf(segment)} AND seq <= ${lastSeqOf(segment)}
      AND length(upstream_request_id) <= ${maxUpstreamIdLength}
    ORDER BY upstream_request_id, seq
    ON CONFLICT DO NOTHING`.execute(tx)
}
